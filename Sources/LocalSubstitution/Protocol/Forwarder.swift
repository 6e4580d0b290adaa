import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests to the network. Its session has no cache, and none of the package's protocols, which would take the requests
/// again.
final class Forwarder: Sendable {
    let configuration: Guarded<URLSessionConfiguration>
    private let session = Guarded<URLSession?>(nil)
    /// The session for requests whose entry sets or removes headers that the session would add. It adds no headers and no cookies.
    private let plainSession = Guarded<URLSession?>(nil)
    private let collector = ResponseCollector()

    private let responseLimit: Int?

    /// - Parameters:
    ///   - configuration: The configuration to send requests with. Later changes to it have no effect.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for the platform's default.
    init(_ configuration: URLSessionConfiguration, responseLimit: Int? = nil) {
        self.responseLimit = responseLimit
        let snapshot = configuration.copy() as? URLSessionConfiguration ?? .default
        snapshot.protocolClasses = snapshot.otherProtocolClasses
        snapshot.urlCache = nil
        self.configuration = Guarded(snapshot)
    }

    deinit {
        // A session holds its delegate until it's invalidated. This is done on another queue, since the current one may be the
        // loader's.
        let sessions = [session.withLock { $0 }, plainSession.withLock { $0 }].compactMap { $0 }
        DispatchQueue.global(qos: .utility).async { for session in sessions { session.finishTasksAndInvalidate() } }
    }

    /// Prepares to send a request. Must not be called on the loader's thread.
    ///
    /// - Parameters:
    ///   - timeout: The number of seconds that the complete response may take; `nil` for the configuration's timeout.
    ///   - priority: The task's priority.
    ///   - fixedHeaders: The headers that the session must not add.
    ///   - owner: Receives the response, and decides about redirects and challenges.
    func load(
        _ request: URLRequest,
        timeout: Double?,
        priority: Float?,
        fixedHeaders: [String] = [],
        for owner: Forwarding.Owner
    ) -> Forwarding {
        let isPlain = adds(fixedHeaders, to: request.url)
        let session = isPlain ? currentPlainSession : currentSession
        let task = session.dataTask(with: (isPlain ? complete(request, but: fixedHeaders) : request).own)
        if let priority { task.priority = priority }
        let forwarding = Forwarding(task, from: self, timeout: timeout, for: owner)
        collector.collect(task, of: session, for: forwarding.collectorOwner(responseLimit))
        return forwarding
    }

    /// Returns the header by which the session identifies its user to a URL; `nil` if there is none.
    func credentialHeader(for url: URL?) -> String? {
        configuration.withLock { configuration in
            let names = configuration.httpAdditionalHeaders?.keys.compactMap { ($0 as? String)?.lowercased() } ?? []
            if let name = HTTPSyntax.credentialHeaders.first(where: { names.contains($0.lowercased()) }) {
                return name
            }
            guard let url, configuration.httpShouldSetCookies,
                configuration.httpCookieStorage?.cookies(for: url)?.isEmpty == false
            else { return nil }
            return "Cookie"
        }
    }

    private var currentPlainSession: URLSession {
        plainSession.withLock { session in
            let configuration = configuration.withLock { $0.copy() as? URLSessionConfiguration ?? .ephemeral }
            configuration.httpAdditionalHeaders = nil
            configuration.httpShouldSetCookies = false
            return self.session(&session, configuration)
        }
    }

    private var currentSession: URLSession {
        session.withLock { session in self.session(&session, configuration.withLock { $0 }) }
    }

    /// Returns a session, created at first use, since most apps never forward a request.
    private func session(_ session: inout URLSession?, _ configuration: URLSessionConfiguration) -> URLSession {
        let made =
            session
            ?? URLSession(
                configuration: configuration,
                delegate: collector,
                delegateQueue: LoaderThread.delegateQueue
            )
        session = made
        return made
    }
}
