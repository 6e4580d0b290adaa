#if canImport(Testing)
public import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// The URL.
    public var url: URL {
        // Only requests with a URL are listed. The alternative only satisfies the compiler.
        request.url ?? URL(fileURLWithPath: "/")
    }

    /// The HTTP method.
    public var method: String { request.httpMethod ?? "GET" }

    /// The request's own headers, without the headers that the session adds.
    public var headers: [String: String] { request.headers }

    /// Returns the request's body, decoded as JSON.
    ///
    /// - Throws: A `DecodingError` if the request's ``body`` is `nil`, or if it can't be decoded as this type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard let body else { throw DecodingError.withoutBody }
        return try JSONDecoder().decode(type, from: body)
    }

    /// The request's body as text; `nil` if ``body`` is `nil`, or isn't UTF-8.
    public var text: String? { body.flatMap { String(data: $0, encoding: .utf8) } }
}
#endif
