package import Foundation
import HTTPSyntax
package import LocalSubstitution

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The parts of a response that a map keeps, whether the response was recorded, imported, added, or received in a test.
package struct WrittenResponse: Sendable {
    package let status: Int
    /// The headers to keep, by name, without `Content-Type`.
    package let headers: [String: String]
    /// The value of `Content-Type`, as it was received; `nil` if there's none.
    package let contentType: String?
    /// The parsed ``contentType``. If it's missing or invalid, the type that the body's first bytes have; `nil` if that
    /// isn't known either.
    package let type: ContentType?
    package let body: Data

    package init(status: Int, headers: [String: String], contentType: String?, body: Data) {
        (self.status, self.headers, self.contentType, self.body) = (status, headers, contentType, body)
        type = contentType.flatMap { ContentType($0) } ?? MIMEType.sniffed(body).flatMap { ContentType($0) }
    }

    package init(_ recorded: RecordedResponse) {
        var headers = recorded.headers
        headers[header: "Content-Type"] = nil
        self.init(
            status: recorded.status,
            headers: headers,
            contentType: recorded.headers[header: "Content-Type"],
            body: recorded.body
        )
    }

    /// Creates a value with the parts of a session's response that a map keeps.
    ///
    /// - Parameter names: The names of the headers to keep; by default, those that a recorder keeps.
    package init(_ response: HTTPURLResponse, body: Data, headers names: [String] = RecordingRules.Headers.names) {
        self.init(
            status: response.statusCode,
            headers: RecordingRules.Headers.kept(names) { response.value(forHTTPHeaderField: $0) },
            contentType: response.value(forHTTPHeaderField: "Content-Type"),
            body: body
        )
    }

    /// Returns a readable name for the file with the body.
    ///
    /// - Parameter digest: A digest that distinguishes this body from other bodies for the URL; `nil` for the URL's
    ///   plain name.
    package func fileName(for url: NormalizedURL, digest: String?) -> RecordedFileName {
        RecordedFileName(url, type: type?.essence, bodyDigest: digest)
    }
}
