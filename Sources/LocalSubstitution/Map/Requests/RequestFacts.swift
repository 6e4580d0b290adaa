import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The facts about a request that an entry's methods and conditions depend on.
package final class RequestFacts: Sendable {
    let method: String
    let headers: [String: String]
    let body: RequestBody

    private let parsed = Guarded<Result<JSONValue, JSONCursor.SyntaxError>?>(nil)

    package init(method: String = "GET", headers: [String: String] = [:], body: RequestBody = .none) {
        self.method = method
        self.headers = headers
        self.body = body
    }

    /// - Parameter body: The body. The default is the request's own body.
    convenience init(_ request: URLRequest, body: RequestBody? = nil) {
        self.init(
            method: request.httpMethod ?? "GET",
            headers: request.allHTTPHeaderFields ?? [:],
            body: body ?? RequestBody(request)
        )
    }

    /// A `GET` without headers.
    static let plain = RequestFacts()

    /// The body as JSON, or the error that says why it isn't JSON. `nil` if the body isn't ``RequestBody/data(_:)``.
    /// The body is parsed at the first access.
    var json: Result<JSONValue, JSONCursor.SyntaxError>? {
        guard case .data(let data) = body else { return nil }
        return parsed.withLock { parsed in
            let made = parsed ?? Self.parse(data)
            parsed = made
            return made
        }
    }

    private static func parse(_ data: Data) -> Result<JSONValue, JSONCursor.SyntaxError> {
        data.withUnsafeBytes { bytes in
            Result { () throws(JSONCursor.SyntaxError) in try JSONValue(bytes.bindMemory(to: UInt8.self)) }
        }
    }
}
