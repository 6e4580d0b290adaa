#if canImport(Testing)
import Foundation
import LocalSubstitution

extension TestSubstitutions.Request {
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
