package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request, and the network's response to it.
package struct Exchange: Sendable {
    /// Why a response can't be recorded even if the rules allow it.
    package enum Obstacle: Sendable {
        /// The session adds a credential header to the request or to a redirected request.
        case credential(header: String, isAfterRedirect: Bool)
        /// The body has more than `most` bytes, the limit for holding it in memory.
        case notHeld(most: Int)
    }

    /// What a recorder did with a response.
    package enum Report: Sendable {
        /// - Parameter note: Which headers were left out, and why; `nil` if none were.
        case recorded(file: URL, bytes: Int, note: String?)
        /// There was nothing to write: the same bytes are already recorded, or a newer response has arrived for the
        /// request.
        case unchanged
        /// - Parameter reason: Why the response wasn't recorded, without a period.
        case notRecorded(reason: String)
    }

    package var request: URLRequest
    package var response: HTTPURLResponse
    package var body: Data
    /// The requests for the targets of the redirects that led to the response, in order.
    package let redirects: [URLRequest]
    /// Whether the response is part of a recorded site: a client of the server received it. The recorder then also
    /// records redirects, 404s, and responses to requests with cookies, which the site needs.
    package let isBrowsed: Bool
    /// Why the response can't be recorded; `nil` if it can.
    package let obstacle: Obstacle?

    package init(
        request: URLRequest,
        response: HTTPURLResponse,
        body: Data,
        redirects: [URLRequest],
        isBrowsed: Bool = false,
        obstacle: Obstacle? = nil
    ) {
        (self.request, self.response, self.body, self.redirects) = (request, response, body, redirects)
        (self.isBrowsed, self.obstacle) = (isBrowsed, obstacle)
    }
}
