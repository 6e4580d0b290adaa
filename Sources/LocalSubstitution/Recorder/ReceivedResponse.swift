import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response from the network, for a recorder to keep or not.
struct ReceivedResponse: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse
    /// As it's kept. The client receives what the server sent.
    private(set) var body: Data
    /// The requests for the targets of the redirects that led to the response.
    let redirects: [URLRequest]
    /// The reason why the response can't be kept, if it could otherwise.
    var obstacle: NotKept?
    /// Whether the body is the server's, so that the server's validators describe it.
    private(set) var isOriginal = true

    init(request: URLRequest, response: HTTPURLResponse, body: Data, redirects: [URLRequest], obstacle: NotKept? = nil)
    {
        (self.request, self.response, self.body) = (request, response, body)
        (self.redirects, self.obstacle) = (redirects, obstacle)
    }

    /// Lets the app change the body; returns whether the response may be kept.
    mutating func redact(_ redact: SubstitutionRecorder.Redaction) -> Bool {
        let given = SubstitutionRecorder.Response(request: request, head: response, body: body)
        guard let redacted = redact(given) else { return false }
        isOriginal = redacted.body == body
        body = redacted.body
        return true
    }

    /// What became of a response.
    enum Outcome: Sendable {
        case kept(file: URL, bytes: Int)
        /// There was nothing to write: the same bytes are kept already, or a newer response arrived for the same URL.
        case unchanged
        case notKept(NotKept)
    }

    /// The URL that was asked for.
    func url() throws(NotKept) -> NormalizedURL {
        do {
            return try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            throw .url(error.message)
        }
    }

    var contentType: ContentType? {
        response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) }
    }
}
