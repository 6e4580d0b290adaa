package import Foundation
import LocalSubstitution

/// A request with any method and its response with any status, to keep in a map. It has no credential headers.
package struct RecordedExchange: Sendable {
    package let method: String
    package let url: URL
    /// The request's body; `nil` if there is none.
    package let requestBody: Data?
    package let status: Int
    /// The headers for its entry.
    package let headers: [String: String]
    package let contentType: String?
    package let body: Data

    package init(
        method: String,
        url: URL,
        requestBody: Data?,
        status: Int,
        headers: [String: String],
        contentType: String?,
        body: Data
    ) {
        self.method = method
        self.url = url
        self.requestBody = requestBody
        self.status = status
        self.headers = headers
        self.contentType = contentType
        self.body = body
    }

    /// Returns the response headers to keep, none of which is a credential.
    package static func kept(_ value: (String) -> String?) -> [String: String] {
        RecordedHeaders.kept(keptHeaders, value)
    }

    /// Returns which of these headers are left out because they may contain a credential; `nil` if none are.
    package static func noteOnWithheld(_ value: (String) -> String?) -> String? {
        RecordedHeaders.note(onWithheld: RecordedHeaders.withheld(keptHeaders, value))
    }

    private static let keptHeaders = ArchivedEntry.keptHeaders + ["Location"]

    /// Returns whether both have the same response.
    func hasResponse(of other: RecordedExchange) -> Bool {
        status == other.status && headers == other.headers && contentType == other.contentType && body == other.body
    }
}
