public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Makes sessions of a configuration use this cache's map for every request, also where URLSession asks no cache or rejects
    /// its response.
    ///
    /// Sets the configuration's `urlCache`, and adds a protocol to its `protocolClasses`. Attach before you make the session,
    /// and once for each configuration: attaching again replaces what was attached before. Each attaching makes a class
    /// that stays as long as the process, and keeps the map.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. Forwarded requests use its headers, cookies and timeouts as they are now.
    ///   - unmatched: What becomes of requests that no entry answers. By default they are loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails.
    /// - Throws: If an exception of `unmatched` is neither a URL nor a match pattern. Also if `unmatched` is strict or there's a
    ///   recorder, but custom protocols aren't available: in background configurations and on watchOS.
    public func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder? = nil
    ) throws(AttachmentError) {
        try attach(to: configuration, unmatched: unmatched, recorder: recorder, streams: nil)
    }

    /// - Parameters:
    ///   - streams: Whether data is streamed as it arrives; `nil` for the platform's default.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for the platform's default. A
    ///     longer one is passed on in pieces where the platform can, and otherwise fails with
    ///     `URLError.dataLengthExceedsMaximum`.
    ///   - isBrowsed: Whether the recorder keeps what it takes to show a site again.
    ///   - listener: Called for every http request: with one, the protocol also takes those that it would leave to the loader.
    /// - Returns: The protocol's class; `nil` where custom protocols aren't available.
    @discardableResult
    package func attach(
        to configuration: URLSessionConfiguration,
        unmatched: Unmatched,
        recorder: SubstitutionRecorder?,
        streams: Bool? = nil,
        responseLimit: Int? = nil,
        isBrowsed: Bool = false,
        listener: RequestListener? = nil
    ) throws(AttachmentError) -> SubstitutionURLProtocol.Type? {
        let rule = try UnmatchedRule(unmatched)
        if let obstacle = Self.obstacle(configuration) {
            guard !rule.isStrict, recorder == nil else { throw obstacle }
            configuration.urlCache = self
            return nil
        }
        if rule.isStrict { responder.takeCacheOffline() }
        let slot = Slots.add(
            Attachment(
                of: responder,
                to: configuration,
                unmatched: rule,
                recorder: recorder,
                streams: streams ?? Attachment.canStream,
                responseLimit: responseLimit,
                isBrowsed: isBrowsed,
                listener: listener
            )
        )
        configuration.urlCache = self
        let others = (configuration.protocolClasses ?? []).filter { !($0 is SubstitutionURLProtocol.Type) }
        configuration.protocolClasses = [slot] + others
        return slot
    }

    /// Makes a session with this cache attached to its configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which is copied first; `.ephemeral` by default.
    ///   - unmatched: What becomes of requests that no entry answers. By default they are loaded from the network.
    ///   - recorder: Keeps responses from the network, and answers with them when the network fails.
    ///   - delegate: The session's delegate, which the session retains until it's invalidated.
    ///   - delegateQueue: The queue of the delegate and of completion handlers; by default one of the session's.
    /// - Throws: The errors of ``attach(to:unmatched:recorder:)``.
    public func makeSession(
        _ configuration: URLSessionConfiguration = .ephemeral,
        unmatched: Unmatched = .load,
        recorder: SubstitutionRecorder? = nil,
        delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) throws(AttachmentError) -> URLSession {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        try attach(to: configuration, unmatched: unmatched, recorder: recorder)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Makes a loader that does what a session with this cache attached does, without a session.
    ///
    /// - Parameter sendsCredentials: Whether the `Authorization` of a request is sent on to the network.
    package func makeDirectLoader(
        _ configuration: URLSessionConfiguration,
        unmatched: Unmatched,
        recorder: SubstitutionRecorder?,
        sendsCredentials: Bool
    ) throws(AttachmentError) -> DirectLoader {
        let attachment = Attachment(
            of: responder,
            to: configuration,
            unmatched: try UnmatchedRule(unmatched),
            recorder: recorder,
            streams: true,
            // Longer responses are passed on as they arrive. The recorder needs whole ones.
            responseLimit: recorder == nil ? 16 << 20 : nil,
            isDirect: true,
            isBrowsed: true
        )
        return DirectLoader(attachment, sendsCredentials: sendsCredentials)
    }

    /// Why a configuration can't have a protocol; `nil` if it can.
    private static func obstacle(_ configuration: URLSessionConfiguration) -> AttachmentError? {
        #if os(watchOS)
        return AttachmentError(
            .unsupportedPlatform,
            "watchOS has no custom protocols: attach without a recorder, and with unmatched: .load"
        )
        #else
        guard configuration.isBackground else { return nil }
        return AttachmentError(
            .backgroundConfiguration,
            "a background configuration has no custom protocols: attach to a default or ephemeral configuration, or without a "
                + "recorder and with unmatched: .load"
        )
        #endif
    }
}

extension URLSessionConfiguration {
    fileprivate var isBackground: Bool {
        #if canImport(Darwin)
        identifier != nil
        #else
        // Linux has no background sessions.
        false
        #endif
    }
}
