public import Foundation

/// A response that a recorder or a test's recording run is about to write. The closure `redacting` can change it.
///
/// ```swift
/// let recorder = try SubstitutionRecorder(folder: folder, redacting: { response in
///     switch response.url.path {
///     case "/login": response.body = Data(#"{ "token": "redacted" }"#.utf8)
///     case "/me": response.isExcluded = true
///     default: break
///     }
/// })
/// ```
///
/// The client still receives what the server sent. The recording gets the status, headers and body that the closure
/// leaves here, with these exceptions:
///
/// - `Set-Cookie` and headers that may contain a credential aren't written, even if the closure has set them.
/// - If the body was changed, the headers that describe the server's bytes aren't written, such as `Content-Digest` or
///   `ETag`, unless the closure has set them, too.
/// - If the closure sets a status that isn't recorded, nothing of the response is written.
public struct RecordedResponse: Sendable {
    /// The request's method, such as `GET`.
    public let method: String
    /// The request's URL, as it was before the network redirected the request. In a test, if entries of the map redirect
    /// the request first, this is the URL that they lead to.
    public let url: URL
    /// The request's body. A test's recording turns a JSON or form body into the entry's condition `when`.
    ///
    /// `nil` if the request has no body, or if the body isn't available. A body from a stream is available only after a
    /// condition or a handler has read the stream. On Linux, the body of an upload task isn't available. For a recorder,
    /// this is always `nil`, because it records only responses to requests without a body.
    public var requestBody: Data?
    /// The response's status, such as 200.
    public var status: Int
    /// The headers that the recording writes, by name. `Content-Type` is among them if the server sent it.
    public var headers: [String: String]
    /// The response's body, as URLSession delivered it: without a content coding such as gzip.
    public var body: Data
    /// Whether to write nothing of this response; `false` by default. A recorder also removes what it has already
    /// recorded for the request.
    public var isExcluded = false

    package init(
        method: String = "GET",
        url: URL,
        requestBody: Data? = nil,
        status: Int,
        headers: [String: String],
        body: Data
    ) {
        (self.method, self.url, self.requestBody) = (method, url, requestBody)
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}
