import Guarded

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension LocalSubstitutionCache {
    /// What becomes of a request in an attached session that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// It is loaded from the network, as if nothing were attached. The default.
        case load
        /// It fails at once, with an error that explains why, and reaches no network: strict mode, for tests. The cache then asks
        /// the network for no newer copies either.
        case fail
    }

    /// Puts this cache and its protocol into a session configuration, which then is answered by the map also where a cache
    /// alone is not asked or not believed.
    ///
    /// - Parameters:
    ///   - configuration: The configuration; make the session after this. What is forwarded later goes out with its headers,
    ///     cookies and timeouts as they are now.
    ///   - type: The protocol. Its ``SubstitutionURLProtocol/cache`` must be this cache: by default this is `URLCache.shared`.
    ///   - unmatched: What becomes of requests that no entry answers. Foundation does not tell a protocol its session, so what
    ///     was said last counts for all sessions with one `type`: give those that differ a subclass each.
    public func attach(
        to configuration: URLSessionConfiguration,
        as type: SubstitutionURLProtocol.Type = SubstitutionURLProtocol.self,
        unmatched: Unmatched = .load
    ) {
        attach(to: configuration, as: type, unmatched: unmatched, responseLimit: nil)
    }

    /// - Parameter responseLimit: The longest response from the network for the protocol to hold, in bytes; `nil` for the
    ///   platform's default. A longer one is passed on in pieces if the platform supports that, and otherwise fails with
    ///   `URLError.dataLengthExceedsMaximum`.
    package func attach(
        to configuration: URLSessionConfiguration,
        as type: SubstitutionURLProtocol.Type,
        unmatched: Unmatched,
        responseLimit: Int?
    ) {
        precondition(
            type.cache === self,
            "\(type).cache is another cache than the one attached: set URLCache.shared to this cache first, or attach as a "
                + "subclass of SubstitutionURLProtocol whose class property `cache` gives it"
        )
        let attachment = Attachment(
            unmatched: unmatched,
            forwarder: Forwarder(configuration, responseLimit: responseLimit)
        )
        let former = state.withLock { $0.attachments.updateValue(attachment, forKey: ObjectIdentifier(type)) }
        withExtendedLifetime(former) {}
        configuration.urlCache = self
        let others = (configuration.protocolClasses ?? []).filter { ObjectIdentifier($0) != ObjectIdentifier(type) }
        configuration.protocolClasses = [type] + others
    }
}

extension LocalSubstitutionCache {
    /// What is remembered of the configuration to which a protocol was attached last. One that somebody put into a
    /// configuration by hand forwards as the default configuration says.
    func attachment(of type: SubstitutionURLProtocol.Type) -> Attachment {
        state.withLock { state in
            if let known = state.attachments[ObjectIdentifier(type)] { return known }
            let made = Attachment(unmatched: .load, forwarder: Forwarder(.default))
            state.attachments[ObjectIdentifier(type)] = made
            return made
        }
    }
}

extension LocalSubstitutionCache {
    /// Whether a session that it is attached to is to reach no network.
    var isStrict: Bool { state.withLock { $0.attachments.values.contains { $0.unmatched == .fail } } }
}

/// What is remembered of a configuration to which a protocol was attached.
struct Attachment: Sendable {
    let unmatched: LocalSubstitutionCache.Unmatched
    let forwarder: Forwarder
}
