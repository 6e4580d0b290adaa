import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response from the network, for a recorder to keep or not.
struct ReceivedResponse: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse
    let body: Data
    /// The requests for the targets of the redirects that led to the response.
    let redirects: [URLRequest]
    /// The reason why the response can't be kept, if it could otherwise.
    var obstacle: NotKept?

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
