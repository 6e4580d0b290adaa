public import Foundation
public import LocalSubstitution

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Makes a configuration's sessions use this cache's map for every request, and a recorder for requests that no
    /// entry answers.
    ///
    /// - Parameters:
    ///   - configuration: The sessions' configuration. Requests that go to the network use the headers, cookies and
    ///     timeouts that the configuration has when you call this; later changes have no effect on them.
    ///   - unmatched: What happens to requests that neither an entry nor the recorder answers. By default,
    ///     they're loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails; `nil` for none.
    /// - Throws: The errors of `attach(to:unmatched:)`. With a recorder, also an error for a background configuration
    ///   and on watchOS, where custom protocols don't work.
    public func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder?
    ) throws(AttachmentError) {
        try attach(to: configuration, unmatched: unmatched, responseRecorder: recorder)
    }

    /// Creates a session with this cache and a recorder attached to its configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which is copied first; `.ephemeral` by default.
    ///   - unmatched: What happens to requests that neither an entry nor the recorder answers. By default,
    ///     they're loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails; `nil` for none.
    ///   - delegate: The session's delegate, which the session retains until it's invalidated; `nil` for none.
    ///   - delegateQueue: The queue for the delegate and for completion handlers. If it's `nil`, the
    ///     session creates a queue.
    /// - Throws: The errors of ``attach(to:unmatched:recorder:)``.
    public func makeSession(
        _ configuration: URLSessionConfiguration = .ephemeral,
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder?,
        delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) throws(AttachmentError) -> URLSession {
        try makeSession(
            configuration,
            unmatched: unmatched,
            responseRecorder: recorder,
            delegate: delegate,
            delegateQueue: delegateQueue
        )
    }

    /// Makes `URLSession.shared` use this cache's map for every request, and a recorder for requests that no entry
    /// answers.
    ///
    /// - Parameters:
    ///   - unmatched: What happens to requests that neither an entry nor the recorder answers. By default,
    ///     they're loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails; `nil` for none.
    /// - Throws: The errors of `install(unmatched:)`. With a recorder, also an error on watchOS.
    public func install(unmatched: Unmatched = .load, recorder: SubstitutionRecorder?) throws(AttachmentError) {
        try install(unmatched: unmatched, responseRecorder: recorder)
    }
}
