#if canImport(Testing)
public import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request and its response, as a recording run is about to keep them. A `redacting` closure can change them.
///
/// What usually contains credentials is already left out: the request's headers, and the response's `Set-Cookie` and
/// most of its other headers. The condition on the request's body leaves out members and fields with names such as
/// `password` or `accessToken`.
public struct RecordedAnswer: Sendable {
    /// The request's method.
    public let method: String
    /// The request's URL.
    public let url: URL
    /// The request's body; `nil` if it has none or it can't be seen. JSON and forms become the entry's condition `when`.
    public var requestBody: Data?
    /// The response's status.
    public var status: Int
    /// The response's headers, except `Content-Type`.
    public var headers: [String: String]
    /// The response's body, as it was received.
    public var body: Data
    /// Whether to discard this response; `false` by default. The recording run's issue lists discarded responses.
    public var isRefused = false

    /// The response's `Content-Type`.
    let contentType: String?
    /// The request's `Content-Type`.
    let requestType: String?
    /// The names of the response's headers that aren't kept, perhaps with a reason in parentheses.
    let leftOut: [String]

    /// Returns `nil` if there's no HTTP response, or if its body was too long to be held in memory.
    init?(_ request: TestSubstitutions.Request) {
        guard let url = request.request.url, let response = request.response,
            let http = response.response as? HTTPURLResponse
        else { return nil }
        method = request.request.httpMethod ?? "GET"
        self.url = url
        requestBody = request.body
        status = http.statusCode
        requestType = request.request.value(forHTTPHeaderField: "Content-Type")
        let names = http.allHeaderFields.keys.compactMap { $0 as? String }
        (headers, leftOut) = RecordedExchange.Headers.sorted(names) { http.value(forHTTPHeaderField: $0) }
        contentType = http.value(forHTTPHeaderField: "Content-Type")
        body = response.data
    }

    var exchange: RecordedExchange {
        RecordedExchange(
            method: method,
            url: url.absoluteString,
            requestBody: requestBody,
            requestType: requestType,
            status: status,
            headers: headers,
            contentType: contentType,
            body: body
        )
    }
}
#endif
