package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request, and the network's response to it.
package struct Exchange: Sendable {
    /// What a recorder did with a response.
    package enum Report: Sendable {
        /// - Parameter note: Which headers were left out, and why; `nil` if none were.
        case recorded(file: URL, bytes: Int, note: String?)
        /// There was nothing to write: the same bytes are already recorded, or a newer response has arrived for the
        /// request.
        case unchanged
        case notRecorded(Complaint)
    }

    package var request: URLRequest
    package var response: HTTPURLResponse
    package var body: Data
    /// The requests for the targets of the redirects that led to the response, in order.
    package let redirects: [URLRequest]
    /// Whether the response is part of a recorded site: a client of the server received it. The recorder then also
    /// records redirects, 404s, and responses to requests with cookies, which the site needs.
    package let isBrowsed: Bool
    /// Why the response may be for one user only, although the request and the redirected requests don't show it: the
    /// session adds a credential header to one of them. `nil` if it doesn't.
    package let credential: Complaint?
    /// Why the body isn't here: it has more bytes than may be held in memory. `nil` if the body is here.
    package let notHeld: Complaint?

    package init(
        request: URLRequest,
        response: HTTPURLResponse,
        body: Data,
        redirects: [URLRequest],
        isBrowsed: Bool = false,
        credential: Complaint? = nil,
        notHeld: Complaint? = nil
    ) {
        (self.request, self.response, self.body, self.redirects) = (request, response, body, redirects)
        (self.isBrowsed, self.credential, self.notHeld) = (isBrowsed, credential, notHeld)
    }
}

/// Reasons not to record a response that are known before a recorder gets it.
extension Complaint {
    package static func requestHeader(_ name: String) -> Complaint {
        Complaint("the request has the header “\(name)”")
    }
    /// Returns a reason that applies to a redirected request instead of the original one.
    package static func redirect(_ reason: Complaint) -> Complaint { Complaint("after a redirect, \(reason)") }
    static func notHeld(most: Int) -> Complaint {
        Complaint("the response is longer than \(most.grouped) bytes, the most that is held in memory")
    }
}
