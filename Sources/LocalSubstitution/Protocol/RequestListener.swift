#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// A listener for the requests of a session.
package struct RequestListener: Sendable {
    /// Called when a request starts. Returns a closure that is called when the request ends, unless it's cancelled.
    package let start: @Sendable (URLRequest) -> @Sendable (RequestOutcome) -> Void
    /// Returns whether an unanswered request fails if the protocol can't send it on. Otherwise, it's loaded unreported.
    package let mustHear: @Sendable (URLRequest) -> Bool

    package init(
        start: @escaping @Sendable (URLRequest) -> @Sendable (RequestOutcome) -> Void,
        mustHear: @escaping @Sendable (URLRequest) -> Bool = { _ in false }
    ) {
        self.start = start
        self.mustHear = mustHear
    }
}
