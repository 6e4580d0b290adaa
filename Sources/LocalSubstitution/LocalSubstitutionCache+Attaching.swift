public import Foundation
import Guarded

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Makes a configuration's sessions use this cache's map for every request.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// try cache.attach(to: configuration)
    /// let session = URLSession(configuration: configuration)
    /// ```
    ///
    /// An attached session uses the map even where URLSession wouldn't ask a cache: for requests with `Authorization`,
    /// with a policy that ignores local data, or with methods other than GET and HEAD. It also gets responses that
    /// URLSession rejects from a cache because of their status.
    ///
    /// Call this before you make the session, and once for each configuration: attaching again replaces the earlier
    /// attachment. This method sets the configuration's `urlCache`, and adds a protocol to its `protocolClasses`. The
    /// protocol intercepts only requests that it responds to, forwards or fails. Each call creates a protocol class,
    /// which exists until the process ends and keeps the map in memory.
    ///
    /// On Apple systems with two loaders, this method also sets `usesClassicLoadingMode` to `true`, because the newer
    /// loader might not use protocols. If your app has changed the property from its default, it stays as it is.
    ///
    /// - Parameters:
    ///   - configuration: The sessions' configuration. Forwarded requests use the headers, cookies and timeouts that it
    ///     has when you call this method.
    ///   - unmatched: What happens to requests that no entry matches. By default, they're loaded from the network.
    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern. For a background
    ///   configuration, and on watchOS, also if `unmatched` isn't `.load`, because custom URL protocols aren't available.
    public func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched = .load
    ) throws(AttachmentError) {
        try attach(to: configuration, unmatched: unmatched, responseRecorder: nil)
    }

    /// Attaches this cache to a configuration, with settings that only the package uses.
    ///
    /// - Parameters:
    ///   - recorder: Records the network's responses, and responds with them when the network fails; `nil` for none.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for 256 MiB. A longer body is streamed,
    ///     and isn't recorded.
    ///   - listener: Hears of each HTTP request whose body is available to the protocol; `nil` for none. With a
    ///     listener, the protocol also intercepts requests that it otherwise wouldn't.
    /// - Returns: The protocol's class; `nil` where custom URL protocols aren't available.
    @discardableResult
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    package func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched,
        responseRecorder recorder: (any ResponseRecorder)?,
        responseLimit: Int? = nil,
        listener: SessionRules.Listener? = nil
    ) throws(AttachmentError) -> SubstitutionURLProtocol.Type? {
        let rules = try SessionRules(unmatched, recorder: recorder, listener: listener)
        let obstacle = obstacle(configuration)
        if let obstacle, rules.isStrict || recorder != nil { throw obstacle }
        configuration.useClassicLoader(unlessChosen: true)
        configuration.urlCache = self
        guard obstacle == nil else { return nil }
        let slot = Slots.add(attachment(to: configuration, rules: rules, responseLimit: responseLimit))
        slots.withLock { $0.append(slot) }
        let others = (configuration.protocolClasses ?? []).filter { !($0 is SubstitutionURLProtocol.Type) }
        configuration.protocolClasses = [slot] + others
        return slot
    }

    /// If the rules are strict, the cache itself no longer asks for newer files: see ``Responder/takeCacheOffline()``.
    func attachment(
        to configuration: URLSessionConfiguration,
        rules: SessionRules,
        responseLimit: Int? = nil
    ) -> Attachment {
        if rules.isStrict { responder.takeCacheOffline() }
        return Attachment(of: responder, to: configuration, rules: rules, responseLimit: responseLimit)
    }

    /// Creates a session with this cache attached.
    ///
    /// ```swift
    /// let session = try cache.makeSession(unmatched: .fail)
    /// let (data, response) = try await session.data(from: url)
    /// ```
    ///
    /// Each call creates a protocol class. The class exists until the process ends, and keeps the map in memory, even
    /// after the session and the cache are gone. Make one session and use it again.
    ///
    /// On Apple systems with two loaders, the session always uses the older loader.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which this method copies; `.ephemeral` by default.
    ///   - unmatched: What happens to requests that no entry matches. By default, they're loaded from the network.
    ///   - delegate: The session's delegate, which the session retains until it's invalidated.
    ///   - delegateQueue: The queue for the delegate and for completion handlers. By default, the session creates one.
    /// - Throws: The errors of ``attach(to:unmatched:)``.
    public func makeSession(
        _ configuration: URLSessionConfiguration = .ephemeral,
        unmatched: Unmatched = .load,
        delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) throws(AttachmentError) -> URLSession {
        try makeSession(
            configuration,
            unmatched: unmatched,
            responseRecorder: nil,
            delegate: delegate,
            delegateQueue: delegateQueue
        )
    }

    package func makeSession(
        _ configuration: URLSessionConfiguration,
        unmatched: Unmatched,
        responseRecorder recorder: (any ResponseRecorder)?,
        delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?
    ) throws(AttachmentError) -> URLSession {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        configuration.useClassicLoader()
        try attach(to: configuration, unmatched: unmatched, responseRecorder: recorder)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Makes ``answer(to:)`` and the loaders of ``makeDirectLoader(_:unmatched:recorder:sendsCredentials:)`` follow a test's
    /// rules from now on.
    package func useInTest(_ unmatched: Unmatched, _ listener: SessionRules.Listener) throws(AttachmentError) {
        let rules = try SessionRules(unmatched, listener: listener)
        rulesOfTest.withLock { $0 = rules }
    }

    /// Creates a loader with this cache's map, for a client that isn't a URLSession.
    ///
    /// - Parameters:
    ///   - unmatched: What happens to requests that no entry matches; `nil` for what the cache's test decides or, outside
    ///     a test, to load them.
    ///   - sendsCredentials: Whether a request's `Authorization` header is forwarded to the network.
    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern, or if a test decides and
    ///   `unmatched` isn't `nil`.
    package func makeDirectLoader(
        _ configuration: URLSessionConfiguration,
        unmatched: Unmatched?,
        recorder: (any ResponseRecorder)?,
        sendsCredentials: Bool
    ) throws(AttachmentError) -> DirectLoader {
        let ofTest = rulesOfTest.withLock { $0 }
        if ofTest != nil, unmatched != nil {
            throw AttachmentError(
                .decidedByTest,
                "This is a test's cache, and the test decides what happens to unmatched requests. Leave out “unmatched” "
                    + "here, and pass it where the test names its map."
            )
        }
        let ofClient = if let ofTest { ofTest } else { try SessionRules(unmatched ?? .load) }
        let rules = SessionRules(copying: ofClient, recorder: recorder, isBrowsed: true)
        return DirectLoader(
            responder,
            configuration,
            rules: rules,
            // Without a recorder, bodies over 16 MiB are streamed. A recorder needs whole bodies, and so does a test's
            // recording. With one, the limit is the default of 256 MiB.
            responseLimit: recorder == nil && !rules.isRecorded ? 16 << 20 : nil,
            for: .server,
            sendsCredentials: sendsCredentials
        )
    }

    /// Returns why a configuration can't have custom protocols; `nil` if it can.
    private func obstacle(_ configuration: URLSessionConfiguration) -> AttachmentError? {
        guard responder.traits.contains(.hasProtocols) else {
            return AttachmentError(
                .unsupportedPlatform,
                "watchOS has no custom URL protocols. Attach without a recorder, and with unmatched: .load."
            )
        }
        guard configuration.identifier != nil else { return nil }
        return AttachmentError(
            .backgroundConfiguration,
            "A background configuration can't use custom URL protocols. Attach to a default or ephemeral "
                + "configuration, or attach without a recorder and with unmatched: .load."
        )
    }
}
