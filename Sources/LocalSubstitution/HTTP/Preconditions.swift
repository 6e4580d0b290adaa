import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request's preconditions: whether the client already has the response, or wants to have only a certain one (RFC 9110
/// §13).
package enum Preconditions {
    package static let headers = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]

    /// 304 or 412; `nil` if the client gets the response. Evaluates the preconditions in the order of RFC 9110 §13.2.2.
    static func status(insteadOf response: HTTPURLResponse, to request: URLRequest) -> Int? {
        guard request.allHTTPHeaderFields?.contains(headerIn: headers) == true,
            ["GET", "HEAD"].contains(request.httpMethod ?? "GET"), [200, 206].contains(response.statusCode)
        else { return nil }
        let tag = response.value(forHTTPHeaderField: "ETag").flatMap { EntityTag.list($0).first }
        let modified = response.value(forHTTPHeaderField: "Last-Modified").flatMap(HTTPSyntax.date)
        func date(_ name: String) -> Date? { request.value(forHTTPHeaderField: name).flatMap(HTTPSyntax.date) }
        if let wanted = request.value(forHTTPHeaderField: "If-Match") {
            let isMet = isAny(wanted) || EntityTag.list(wanted).contains { $0 == tag && !$0.isWeak }
            guard isMet else { return 412 }
        } else if let modified, let date = date("If-Unmodified-Since"), modified > date {
            return 412
        }
        if let known = request.value(forHTTPHeaderField: "If-None-Match") {
            return isAny(known) || EntityTag.list(known).contains { $0.text == tag?.text } ? 304 : nil
        }
        guard let modified, let date = date("If-Modified-Since"), modified <= date else { return nil }
        return 304
    }

    private static func isAny(_ header: String) -> Bool { header.trimmingCharacters(in: .whitespaces) == "*" }

    /// An entity tag, such as `"x"` or `W/"x"` (RFC 9110 §8.8.3).
    private struct EntityTag: Equatable {
        let text: String
        let isWeak: Bool

        /// A comma may be in a tag, and a quotation mark may not.
        static func list(_ header: String) -> [EntityTag] {
            let parts = header.components(separatedBy: "\"")
            return stride(from: 1, to: parts.count - 1, by: 2).map { index in
                EntityTag(text: parts[index], isWeak: parts[index - 1].hasSuffix("W/"))
            }
        }
    }
}

extension CachedURLResponse {
    /// Returns a 304 or 412 without a body if the request's preconditions call for it; otherwise, this response.
    func meetingPreconditions(of request: URLRequest) -> CachedURLResponse {
        guard let response = response as? HTTPURLResponse, let url = response.url,
            let status = Preconditions.status(insteadOf: response, to: request)
        else { return self }
        var headers = response.headers
        // These describe the body, which isn't sent (RFC 9110 §15.4.5).
        for name in ["Content-Type", "Content-Length", "Content-Range", "Accept-Ranges"] { headers[header: name] = nil }
        if status == 412 { headers["Content-Length"] = "0" }
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return head.map {
            CachedURLResponse(response: $0, data: Data(), userInfo: nil, storagePolicy: storagePolicy)
        } ?? self
    }
}
