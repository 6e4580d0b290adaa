package import Foundation
import HTTPSyntax
package import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a map's entry is made from, whether the response was recorded, imported, added, or received in a test.
extension RecordedResponse {
    /// Returns `nil` if the request has no URL.
    ///
    /// - Parameters:
    ///   - headers: The headers to record. `Content-Type` is always recorded.
    ///   - requestBody: The request's body; `nil`, the default, if it has none or isn't available.
    package init?(_ exchange: Exchange, headers: [String: String], requestBody: Data? = nil) {
        guard let url = exchange.request.url else { return nil }
        var headers = headers
        headers["Content-Type"] = exchange.response.value(forHTTPHeaderField: "Content-Type")
        self.init(
            method: exchange.request.httpMethod ?? "GET",
            url: url,
            requestBody: requestBody,
            status: exchange.response.statusCode,
            headers: headers,
            body: exchange.body
        )
    }

    /// As it was received; `nil` if there's none.
    package var contentType: String? { headers[header: "Content-Type"] }

    /// The headers without `Content-Type`, for which an entry has other fields.
    package var headersWithoutType: [String: String] {
        var headers = headers
        headers[header: "Content-Type"] = nil
        return headers
    }

    /// The parsed ``contentType``. If it's missing or invalid, the type that the body's first bytes have; `nil` if that
    /// isn't known either.
    package var type: ContentType? {
        contentType.flatMap { ContentType($0) } ?? MIMEType.sniffed(body).flatMap { ContentType($0) }
    }

    /// Returns a readable name for the file with the body.
    ///
    /// - Parameter digest: A digest that distinguishes this body from other bodies for the URL; `nil` for the URL's
    ///   plain name.
    package func fileName(for url: NormalizedURL, digest: String?) -> RecordedFileName {
        RecordedFileName(url, type: type?.essence, bodyDigest: digest)
    }
}
