package import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A builder of a substitution's responses: the whole response, a part of it, or only its headers.
///
/// Every response is an `HTTPURLResponse`, because Linux's loader refuses a plain `URLResponse`
/// (`URLSessionTask.swift`, `canRespondFromCache`).
package struct ResponseBuilder {
    let substitution: Substitution
    /// The bytes of the entry's file; `nil` if the file is read in pieces, or if the entry has no file.
    let file: FileBytes?
    /// The file, if it's read in pieces; otherwise `nil`. With such a file, the responses have an empty body.
    var large: FileBytes.Large?
    /// The refreshed file that is returned instead of the file; otherwise `nil`.
    var refreshed: RefreshedFiles.File?
    /// For a request of ``LocalSubstitutionCache/verify(_:)``, the proof that the cache responded; otherwise `nil`.
    var proof: String?
    /// Whether the response is a handler's. Such a response has no `Accept-Ranges`, `ETag` or `Cache-Control`: byte
    /// ranges and preconditions aren't applied to it, and the next request calls the handler again.
    var isHandled = false
    let traits: LoaderTraits

    package func full(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: data)
    }

    /// Returns the whole response's headers without its body (RFC 9110 §9.3.2).
    package func head(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: Data())
    }

    /// Returns the head of a streamed response. It has no `Content-Length`, since the length isn't known.
    func streamHead(for url: URL) -> HTTPURLResponse? {
        var headers = headers(length: 0)
        headers["Content-Length"] = nil
        let status = substitution.status
        return HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
    }

    /// Returns the part that a `Range` header asks for (RFC 9110 §14.4, §15.3.7), or the whole response if
    /// ``range(_:)`` is `nil`.
    package func part(_ header: String, for url: URL) -> CachedURLResponse? {
        guard let range = range(header) else { return full(for: url) }
        var headers = headers(length: range.count)
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        return response(for: url, status: 206, headers: headers, body: large == nil ? part(range) : Data())
    }

    /// Returns the range of bytes that a `Range` header asks for. Returns `nil`, to send the whole body instead, if the
    /// status isn't 200, if there's no body, or if the body has none of the bytes. Also returns `nil` for a
    /// header that a server ignores (RFC 9110 §14.2): one with another unit, several ranges or bad syntax.
    func range(_ header: String) -> Range<Int>? {
        substitution.status == 200 && hasBody ? Self.range(header, of: size) : nil
    }

    /// The whole body: the refreshed file's, the file's, the map's, or an empty one.
    var data: Data { hasBody ? refreshed?.data ?? file?.data ?? substitution.inlineBody?.data ?? Data() : Data() }
    var size: Int { large?.status.size ?? data.count }

    /// Whether there's a body, even an empty one. Some statuses allow none.
    var hasBody: Bool {
        HTTPSyntax.hasBody(status: substitution.status)
            && (file != nil || large != nil || substitution.inlineBody != nil)
    }

    private func part(_ range: Range<Int>) -> Data {
        (refreshed == nil ? file : nil)?.part(range) ?? data.subdata(in: range)
    }

    private func response(for url: URL, status: Int, headers: [String: String], body: Data) -> CachedURLResponse? {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return response.map {
            CachedURLResponse(response: $0, data: body, userInfo: nil, storagePolicy: storagePolicy)
        }
    }

    /// The storage policy of a substitution. The cache never stores a substitution, so the policy matters only to a
    /// loader that ignores responses that may not be stored.
    private var storagePolicy: URLCache.StoragePolicy {
        traits.contains(.refusesUnstorableResponses) ? .allowedInMemoryOnly : .notAllowed
    }
}

extension URLResponse {
    /// The `Cache-Status` of a substitution; `nil` if this isn't a substitution, or if its entry sets the header.
    package var substitutionStatus: String? {
        let status = (self as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        return status.flatMap { $0.hasPrefix(ResponseBuilder.hitStatus) ? $0 : nil }
    }
}

extension ResponseBuilder {
    package init(substitution: Substitution, file: FileBytes?, traits: LoaderTraits) {
        self.init(substitution: substitution, file: file, large: nil, traits: traits)
    }
}

/// The headers of a substitution. Headers that the entry sets override the others, except `Content-Length`.
extension ResponseBuilder {
    /// The default `Cache-Control` of a substitution: fresh for a year, for loaders that check a response's age.
    package static let cacheControl = "max-age=\(365 * 24 * 60 * 60)"

    /// The beginning of a substitution's `Cache-Status`, unless its entry sets the header.
    package static let hitStatus = "LocalSubstitutionCache; hit"

    func headers(length: Int) -> [String: String] {
        var headers = [
            "Content-Type": substitution.contentType(ofBody: large?.beginning ?? data, from: refreshed?.contentType)
                .text,
            "Cache-Status": cacheStatus,
        ]
        if traits.contains(.readsDates) { headers["Date"] = HTTPSyntax.text(of: Date()) }
        if !isHandled {
            headers["Cache-Control"] = Self.cacheControl
            headers["ETag"] = entityTag
            if hasBody { headers["Accept-Ranges"] = "bytes" }
        }
        for (name, value) in substitution.headers { headers[header: name] = value }
        if headers[header: "Content-Type"] == "" { headers[header: "Content-Type"] = nil }
        headers["Content-Length"] = String(length)
        headers[Responder.proofHeader] = proof
        return headers
    }

    /// The `Cache-Status` (RFC 9211). It says that the response is a substitution, names the file, and says whether the
    /// file was refreshed.
    private var cacheStatus: String {
        let name = Self.hitStatus
        guard let file = substitution.fileName else { return name }
        let encoded = file.addingPercentEncoding(withAllowedCharacters: Self.unencoded) ?? ""
        let origin = refreshed == nil ? "" : "refreshed file of "
        return "\(name); detail=\"\(origin)\(encoded)\""
    }

    /// The characters of a file's name that a `Cache-Status` has as they are.
    private static let unencoded = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&()+,;=:@/"
    )

    /// The `ETag`, a strong validator (RFC 9110 §8.8.3); `nil` if there's no body.
    private var entityTag: String? {
        if let refreshed { return "\"\(refreshed.digest)\"" }
        return (file?.status ?? large?.status).map(Self.entityTag) ?? substitution.inlineBody.map { "\"\($0.digest)\"" }
    }

    /// Returns an entity tag made from the file's size, modification time and inode.
    private static func entityTag(_ status: FileStatus) -> String {
        let parts = [Int64(status.size), status.modified, Int64(bitPattern: status.inode)]
        return "\"" + parts.map { String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: "-") + "\""
    }
}

// MARK: - Ranges

extension ResponseBuilder {
    /// Returns the range that a header such as `bytes=10-19`, `bytes=10-` or `bytes=-20` asks for (RFC 9110 §14.1.2).
    private static func range(_ header: String, of count: Int) -> Range<Int>? {
        let parts = header.components(separatedBy: "=")
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].trimmingCharacters(in: [" ", "\t"]).components(separatedBy: "-")
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return nil }
        if let first {
            guard first < count, first <= last ?? .max else { return nil }
            return first..<min(last ?? .max, count - 1) + 1
        }
        // Without a first position, the number is the length of the body's last part.
        guard let length = last, length > 0, count > 0 else { return nil }
        return max(0, count - length)..<count
    }

    /// `nil` if the text has characters other than digits, and `.some(nil)` if it's empty. A number too large for `Int`
    /// becomes `Int.max`.
    private static func number(_ digits: String) -> Int?? {
        guard digits.isDigits else { return nil }
        return digits.isEmpty ? .some(nil) : .some(Int(digits) ?? .max)
    }
}
