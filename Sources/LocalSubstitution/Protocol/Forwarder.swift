import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests on to the network, through a session of its own without our protocols, which would take them again, and
/// without a cache.
final class Forwarder: Sendable {
    private let configuration: Guarded<URLSessionConfiguration>
    private let session = Guarded<URLSession?>(nil)
    private let collector = ResponseCollector()

    private let responseLimit: Int?

    /// - Parameters:
    ///   - configuration: The configuration to send requests with. Later changes to it have no effect.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for the platform's default.
    init(_ configuration: URLSessionConfiguration, responseLimit: Int? = nil) {
        self.responseLimit = responseLimit
        let snapshot = configuration.copy() as? URLSessionConfiguration ?? .default
        snapshot.protocolClasses = (snapshot.protocolClasses ?? []).filter { !($0 is SubstitutionURLProtocol.Type) }
        snapshot.urlCache = nil
        self.configuration = Guarded(snapshot)
    }

    deinit {
        // A session holds its delegate until it is invalidated; not here, since this may be the loader's own queue.
        guard let session = session.withLock({ $0 }) else { return }
        DispatchQueue.global(qos: .utility).async { session.finishTasksAndInvalidate() }
    }

    /// Prepares to send a request. Not to be called on the loader's thread.
    ///
    /// - Parameters:
    ///   - timeout: How many seconds the complete response may take; `nil` for what the configuration says.
    ///   - priority: The task's.
    ///   - owner: Whom the forwarding asks and tells.
    func load(
        _ request: URLRequest,
        timeout: Double?,
        priority: Float?,
        for owner: Forwarding.Owner
    ) -> Forwarding {
        let session = currentSession
        let task = session.dataTask(with: request.own)
        if let priority { task.priority = priority }
        let forwarding = Forwarding(task, from: self, timeout: timeout, for: owner)
        collector.collect(task, of: session, for: forwarding.collectorOwner(responseLimit))
        return forwarding
    }

    /// The header with which the session itself shows who asks for a URL; `nil` for most.
    func credentialHeader(for url: URL?) -> String? {
        configuration.withLock { configuration in
            let names = configuration.httpAdditionalHeaders?.keys.compactMap { ($0 as? String)?.lowercased() } ?? []
            if let name = CredentialHeaders.names.first(where: { names.contains($0.lowercased()) }) {
                return name
            }
            guard let url, configuration.httpShouldSetCookies,
                configuration.httpCookieStorage?.cookies(for: url)?.isEmpty == false
            else { return nil }
            return "Cookie"
        }
    }

    /// Made at first use: most apps never send anything on.
    private var currentSession: URLSession {
        session.withLock { session in
            if let session { return session }
            let made = URLSession(
                configuration: configuration.withLock { $0 },
                delegate: collector,
                delegateQueue: LoaderThread.delegateQueue
            )
            session = made
            return made
        }
    }
}
