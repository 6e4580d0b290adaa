package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A listener for the requests of a session.
package struct RequestListener: Sendable {
    /// What happens to a request that has started.
    package enum Progress: Sendable {
        /// The request's body was read from its stream, because a condition or a handler needs it.
        case readBody(Data)
        /// The request has ended.
        ///
        /// - Parameter isHiddenUpload: Whether it's for an upload task whose body can't be seen.
        case ended(RequestOutcome, isHiddenUpload: Bool)
    }

    /// Called when a request starts. Returns a closure that receives its progress. A cancelled request doesn't end.
    package let start: @Sendable (URLRequest) -> @Sendable (Progress) -> Void
    /// Returns whether an unanswered request fails if the protocol can't forward it. If not, the loader loads it
    /// unreported.
    package let mustHear: @Sendable (URLRequest) -> Bool

    /// Whether the listener explains why an unanswered request failed. If it does, the request's error doesn't.
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
