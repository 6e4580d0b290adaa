#if canImport(Testing)
public import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request and its response, as a recording run is about to keep them. A `redacting` closure can change them.
///
/// The usual places for credentials are already left out: the request's headers, the response's `Set-Cookie` and most of its other
/// headers, and, where the request's body is compared, members with names such as `password` or `accessToken`.
public struct RecordedAnswer: Sendable {
    /// The request's method.
    public let method: String
    /// The request's URL.
    public let url: URL
    /// The request's body. If it's JSON, it becomes the entry's condition `when`. `nil` if there is none or it can't be seen.
    public var requestBody: Data?
    /// The response's status.
    public var status: Int
    /// The response's headers, except `Content-Type`.
    public var headers: [String: String]
    /// The response's body, as it was received.
    public var body: Data
    /// Whether to keep nothing of this response; `false` by default. The issue that the run records lists refused responses.
    public var isRefused = false

    /// Which headers were left out because they may contain a credential; `nil` if none were.
    let headerNote: String?
    /// The response's `Content-Type`.
    let contentType: String?

    /// Returns `nil` if the response isn't HTTP or wasn't held in full.
    init?(_ request: TestSubstitutions.Request) {
        guard let url = request.request.url, let response = request.response,
            let http = response.response as? HTTPURLResponse
        else { return nil }
        method = request.request.httpMethod ?? "GET"
        self.url = url
        requestBody = request.body
        status = http.statusCode
        headers = RecordedExchange.kept { http.value(forHTTPHeaderField: $0) }
        headerNote = RecordedExchange.noteOnWithheld { http.value(forHTTPHeaderField: $0) }
        contentType = http.value(forHTTPHeaderField: "Content-Type")
        body = response.data
    }

    var exchange: RecordedExchange {
        RecordedExchange(
            method: method,
            url: url,
            requestBody: requestBody,
            status: status,
            headers: headers,
            contentType: contentType,
            body: body
        )
    }
}
#endif
