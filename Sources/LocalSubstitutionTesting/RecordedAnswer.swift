#if canImport(Testing)
public import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request and its response before a recording run (with `LOCAL_SUBSTITUTION_RECORD` set) saves them. A test's
/// `redacting` closure can change them.
///
/// The run doesn't keep what usually contains credentials. It leaves out the request's headers, and the response's
/// `Set-Cookie` and most other headers. When it turns the request's body into a condition, it leaves out JSON members
/// and form fields with names such as `password` or `accessToken`. The response's body may still contain credentials.
public struct RecordedAnswer: Sendable {
    /// The request's method, such as `GET`.
    public let method: String
    /// The request's URL. After redirects that the map answers, the URL that they lead to.
    public let url: URL
    /// The request's body. The run turns a JSON or form body into the entry's condition `when`.
    ///
    /// `nil` if the request has no body. Also `nil` if the body can't be seen: a stream that no condition or handler
    /// has read or, on Linux, the body of an upload task.
    public var requestBody: Data?
    /// The response's status, such as 200.
    public var status: Int
    /// The response's headers that the run keeps. `Content-Type` isn't among them, because the run keeps it separately.
    public var headers: [String: String]
    /// The response's body, as the URL loading system delivered it: without a content coding such as gzip.
    public var body: Data
    /// Whether to discard this response; `false` by default. The issue that reports the recording lists discarded
    /// responses.
    public var isRefused = false

    /// The response's `Content-Type`; `nil` if the response doesn't have the header.
    let contentType: String?
    /// The request's `Content-Type`; `nil` if the request doesn't have the header.
    let requestType: String?
    /// The names of the response's headers that the run doesn't keep. A reason in parentheses follows some names.
    let leftOut: [String]

    /// Creates the answer from a test's request. Returns `nil` if the request has no URL, if there's no HTTP response,
    /// or if the response's body was too long to keep in memory.
    init?(_ request: TestSubstitutions.Request) {
        guard let url = request.request.url, let response = request.response,
            let http = response.response as? HTTPURLResponse
        else { return nil }
        method = request.request.httpMethod ?? "GET"
        self.url = url
        requestBody = request.body
        status = http.statusCode
        requestType = request.request.value(forHTTPHeaderField: "Content-Type")
        let names = Array(http.headers.keys)
        (headers, leftOut) = RecordedExchange.Headers.sorted(names) { http.value(forHTTPHeaderField: $0) }
        contentType = http.value(forHTTPHeaderField: "Content-Type")
        body = response.data
    }

    /// The request and the response to add to the map.
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
