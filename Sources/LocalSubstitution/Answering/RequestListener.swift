package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A listener for the requests of a session.
package final class RequestListener: Sendable {
    /// What happens to a request that has started.
    package enum Progress: Sendable {
        /// The request's body was read from its stream, because a condition or a handler needs it.
        case readBody(Data)
        /// The request has ended.
        ///
        /// - Parameter isHiddenUpload: Whether the request is an upload task's, whose body Foundation hides.
        case ended(RequestOutcome, isHiddenUpload: Bool)
    }

    /// Called when a request starts. Returns a closure that receives the request's progress, but no `ended` if the
    /// request is cancelled.
    package let start: @Sendable (URLRequest) -> @Sendable (Progress) -> Void
    /// Returns whether an unanswered request must fail if the protocol can't forward it. If `false`, the loader loads
    /// such a request, and the listener doesn't hear of it.
    package let mustHear: @Sendable (URLRequest) -> Bool

    /// Whether the listener explains why an unanswered request failed. If so, the request's error is brief.
    package let explainsUnmatched: Bool

    package init(
        start: @escaping @Sendable (URLRequest) -> @Sendable (Progress) -> Void,
        mustHear: @escaping @Sendable (URLRequest) -> Bool = { _ in false },
        explainsUnmatched: Bool = false
    ) {
        self.explainsUnmatched = explainsUnmatched
        self.start = start
        self.mustHear = mustHear
    }
}
