public import Foundation
public import LocalSubstitution

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Makes a configuration's sessions use this cache's map for every request, and a recorder for requests that no
    /// entry matches.
    ///
    /// ```swift
    /// let recorder = try SubstitutionRecorder(folder: folder)
    /// let configuration = URLSessionConfiguration.default
    /// try cache.attach(to: configuration, recorder: recorder)
    /// let session = URLSession(configuration: configuration)
    /// ```
    ///
    /// Call this before you make the session. Each call creates a protocol class, which exists until the process ends
    /// and keeps the map in memory.
    ///
    /// - Parameters:
    ///   - configuration: The sessions' configuration. Requests that go to the network use the headers, cookies and
    ///     timeouts that it has when you call this method.
    ///   - unmatched: What happens to requests that have neither an entry nor a recording. By default, they're loaded
    ///     from the network.
    ///   - recorder: Records the network's responses, and responds with them when the network fails; `nil` for none.
    /// - Throws: The errors of `attach(to:unmatched:)`. With a recorder, also an error for a background configuration
    ///   and on watchOS, where custom URL protocols don't work.
    public func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder?
    ) throws(AttachmentError) {
        try attach(to: configuration, unmatched: unmatched, responseRecorder: recorder)
    }

    /// Creates a session with this cache and a recorder attached.
    ///
    /// ```swift
    /// let recorder = try SubstitutionRecorder(folder: folder)
    /// let session = try cache.makeSession(recorder: recorder)
    /// let (data, response) = try await session.data(from: url)
    /// ```
    ///
    /// Each call creates a protocol class. The class exists until the process ends, and keeps the map in memory, even
    /// after the session and the cache are gone. Make one session and use it again.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which is copied first; `.ephemeral` by default.
    ///   - unmatched: What happens to requests that have neither an entry nor a recording. By default, they're loaded
    ///     from the network.
    ///   - recorder: Records the network's responses, and responds with them when the network fails; `nil` for none.
    ///   - delegate: The session's delegate, which the session retains until it's invalidated; `nil` for none.
    ///   - delegateQueue: The queue for the delegate and for completion handlers. If it's `nil`, the session creates a
    ///     queue.
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
    /// matches.
    ///
    /// ```swift
    /// let recorder = try SubstitutionRecorder(folder: folder)
    /// try LocalSubstitutionCache(bundle: .main).install(recorder: recorder)
    /// let (data, response) = try await URLSession.shared.data(from: url)
    /// ```
    ///
    /// Call this before the process uses any session.
    ///
    /// - Parameters:
    ///   - unmatched: What happens to requests that have neither an entry nor a recording. By default, they're loaded
    ///     from the network.
    ///   - recorder: Records the network's responses, and responds with them when the network fails; `nil` for none.
    /// - Throws: The errors of `install(unmatched:)`. With a recorder, also an error on watchOS.
    public func install(unmatched: Unmatched = .load, recorder: SubstitutionRecorder?) throws(AttachmentError) {
        try install(unmatched: unmatched, responseRecorder: recorder)
    }
}
