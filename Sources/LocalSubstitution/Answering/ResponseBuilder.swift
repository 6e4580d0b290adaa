package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes the responses that a substitution gives: whole, part, or headers only.
///
/// They are `HTTPURLResponse`s: Linux's loader refuses a plain `URLResponse` (`URLSessionTask.swift`, `canRespondFromCache`).
struct ResponseBuilder {
    let substitution: Substitution
    /// `nil` for an entry without a file.
    let file: FileBytes?
    /// Set where the bytes are not the file's, but a newer copy's.
    var copy: NewerCopy.Facts?
    /// The proof for ``LocalSubstitutionCache/verify(_:)`` that the cache answered; `nil` for other requests.
    var proof: String?

    /// The whole response.
    func full(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: file?.data ?? Data())
    }

    /// The headers of the whole response, without its body (RFC 9110 §9.3.2).
    func head(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: Data())
    }

    /// The part that a `Range` header asks for (RFC 9110 §14.4, §15.3.7), or the whole where it asks for none that there is.
    func part(_ header: String, for url: URL) -> CachedURLResponse? {
        guard substitution.status == 200, let file, let range = ByteRange(header)?.bytes(of: size) else {
            return full(for: url)
        }
        var headers = headers(length: range.count)
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        return response(for: url, status: 206, headers: headers, body: file.part(range))
    }

    private var size: Int { file?.data.count ?? 0 }

    private func headers(length: Int) -> [String: String] {
        var headers = [
            "Content-Type": Self.contentType(
                of: substitution,
                bodyBeginning: file?.data.prefix(Charset.longestByteOrderMark) ?? Data(),
                copy: copy
            ),
            "Cache-Control": SubstitutionHeaders.cacheControl,
            "Cache-Status": cacheStatus,
        ]
        // Linux's loader never reads a date (`HTTPURLProtocol.swift`, `canCache`), and takes long to try.
        #if canImport(Darwin)
        headers["Date"] = HTTPDate.string(Date())
        #endif
        if let file {
            headers["Accept-Ranges"] = "bytes"
            headers["ETag"] = copy.map { "\"\($0.digest)\"" } ?? Self.entityTag(file.status)
        }
        for (name, value) in substitution.headers { headers[header: name] = value }
        headers["Content-Length"] = String(length)
        headers[VerificationProofs.header] = proof
        return headers
    }

    /// The `Content-Type` of a substitution: the entry's header, or its MIME type, with a charset for text.
    ///
    /// - Parameters:
    ///   - bodyBeginning: At least as much of the body as the longest byte order mark has, if there is so much.
    ///   - copy: The newer copy whose body it is: its server knows better than an extension.
    static func contentType(
        of substitution: Substitution,
        bodyBeginning: Data,
        copy: NewerCopy.Facts? = nil
    ) -> String {
        if let own = substitution.headers[header: "Content-Type"] { return own }
        if let type = copy?.contentType, substitution.mimeTypeSource != .entry {
            guard substitution.hasOwnCharset, let charset = substitution.charset else { return type }
            return "\(MIMEType.essence(of: type)); charset=\(charset)"
        }
        var charset = substitution.charset
        if charset != nil, !substitution.hasOwnCharset {
            charset = Charset.byteOrderMark(of: bodyBeginning) ?? charset
        }
        return substitution.mimeType + (charset.map { "; charset=\($0)" } ?? "")
    }

    /// RFC 9211: so that a client sees that it got a substitute, and of which file, and whether it is a newer copy of that.
    private var cacheStatus: String {
        let name = SubstitutionHeaders.hitStatus
        guard let file = substitution.fileName else { return name }
        let encoded = PercentEncoding.normalize(
            file.utf8.flatMap { $0 == UInt8(ascii: "%") ? Array("%25".utf8) : [$0] },
            allowed: .path,
            keepsAsterisks: false
        )
        let detail = (copy == nil ? "" : "newer copy of ") + String(decoding: encoded, as: UTF8.self)
        return "\(name); detail=\"\(detail)\""
    }

    /// A strong validator (RFC 9110 §8.8.3): size, modification time and inode.
    private static func entityTag(_ status: FileStatus) -> String {
        let parts = [Int64(status.size), status.modified, Int64(bitPattern: status.inode)]
        return "\"" + parts.map { String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: "-") + "\""
    }

    private func response(for url: URL, status: Int, headers: [String: String], body: Data) -> CachedURLResponse? {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return response.map { CachedURLResponse(response: $0, data: body, userInfo: nil, storagePolicy: .notAllowed) }
    }
}

extension Substitution {
    /// The `Content-Type` with which a body is served.
    package func contentType(ofBody body: Data) -> String {
        ResponseBuilder.contentType(of: self, bodyBeginning: body.prefix(Charset.longestByteOrderMark))
    }
}
