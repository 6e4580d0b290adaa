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

    /// Called when a request starts. Returns a closure that receives the request's progress. If the request is
    /// cancelled, the closure receives no `ended`.
    package let start: @Sendable (URLRequest) -> @Sendable (Progress) -> Void
    /// Returns whether the protocol must take a request that no entry answers and whose body Foundation may hide. An
    /// upload task's request then fails, since the protocol can't forward it. If `false`, the loader loads the request
    /// without the protocol, and the listener isn't told about it.
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
