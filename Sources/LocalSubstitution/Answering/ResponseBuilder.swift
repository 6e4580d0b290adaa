package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Builds a substitution's responses: whole, partial, or only the headers.
///
/// They are `HTTPURLResponse`s because Linux's loader refuses a plain `URLResponse` (`URLSessionTask.swift`,
/// `canRespondFromCache`).
package struct ResponseBuilder {
    let substitution: Substitution
    /// The file; `nil` for an entry without one, whose body is in the map or empty.
    let file: FileBytes?
    /// The file, if it's read in pieces. The responses then have no body.
    var large: LargeFile?
    /// The newer copy, if the bytes are its and not the file's.
    var copy: NewerCopy.Facts?
    /// The proof for ``LocalSubstitutionCache/verify(_:)`` that the cache answered; `nil` for any other request.
    var proof: String?

    /// Returns the whole response.
    package func full(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: data)
    }

    /// Returns the whole response's headers without its body (RFC 9110 §9.3.2).
    func head(for url: URL) -> CachedURLResponse? {
        response(for: url, status: substitution.status, headers: headers(length: size), body: Data())
    }

    /// Returns the part that a `Range` header asks for (RFC 9110 §14.4, §15.3.7), or the whole response if the range can't be
    /// satisfied.
    package func part(_ header: String, for url: URL) -> CachedURLResponse? {
        guard let range = range(header) else { return full(for: url) }
        var headers = headers(length: range.count)
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        let body = large == nil ? file?.part(range) ?? data.subdata(in: range) : Data()
        return response(for: url, status: 206, headers: headers, body: body)
    }

    /// Returns the range of bytes that a `Range` header asks for; `nil` for all of them.
    func range(_ header: String) -> Range<Int>? {
        substitution.status == 200 && hasBody ? ByteRange(header)?.bytes(of: size) : nil
    }

    /// The whole body: the file's, the map's, or an empty one.
    var data: Data { file?.data ?? substitution.inlineBody?.data ?? Data() }
    var size: Int { large?.status.size ?? data.count }

    /// Whether there's a body, even an empty one.
    var hasBody: Bool { file != nil || large != nil || substitution.inlineBody != nil }

    private func response(for url: URL, status: Int, headers: [String: String], body: Data) -> CachedURLResponse? {
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return response.map {
            CachedURLResponse(response: $0, data: body, userInfo: nil, storagePolicy: Self.storagePolicy)
        }
    }

    /// The storage policy of a cache's substitutions. The cache never stores them, whatever it is.
    ///
    /// Apple's newer loader was reported to ignore a cached response that says `.notAllowed`.
    private static var storagePolicy: URLCache.StoragePolicy {
        #if canImport(Darwin)
        .allowedInMemoryOnly
        #else
        .notAllowed
        #endif
    }
}

extension URLResponse {
    /// The `Cache-Status` of a substitution; `nil` if this isn't one, or if its entry sets the header.
    package var substitutionStatus: String? {
        let status = (self as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        return status.flatMap { $0.hasPrefix(ResponseBuilder.hitStatus) ? $0 : nil }
    }
}

extension ResponseBuilder {
    package init(substitution: Substitution, file: FileBytes?) {
        self.init(substitution: substitution, file: file, large: nil)
    }
}
