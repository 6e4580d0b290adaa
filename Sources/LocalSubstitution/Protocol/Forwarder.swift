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
    private let delegate = ForwarderDelegate()

    /// - Parameter configuration: What is sent goes out as this one says, as it is now.
    init(_ configuration: URLSessionConfiguration) {
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
        let task = currentSession.dataTask(with: request)
        if let priority { task.priority = priority }
        let forwarding = Forwarding(task, from: self, timeout: timeout, for: owner)
        delegate.add(forwarding, for: task)
        return forwarding
    }

    /// The header with which the session itself shows who asks for a URL; `nil` for most.
    func credentialHeader(for url: URL?) -> String? {
        configuration.withLock { configuration in
            let names = configuration.httpAdditionalHeaders?.keys.compactMap { ($0 as? String)?.lowercased() } ?? []
            if let name = RecordingRules.credentialHeaders.first(where: { names.contains($0.lowercased()) }) {
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
                delegate: delegate,
                delegateQueue: LoaderThread.delegateQueue
            )
            session = made
            return made
        }
    }
}

/// Hands what a forwarder's session tells to the request that it is about.
private final class ForwarderDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let forwardings = Guarded<[Int: Forwarding]>([:])

    func add(_ forwarding: Forwarding, for task: URLSessionTask) {
        forwardings.withLock { $0[task.taskIdentifier] = forwarding }
    }

    private func forwarding(_ task: URLSessionTask) -> Forwarding? {
        forwardings.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        forwarding(dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        forwarding(dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        forwarding(task)?.redirect(to: request.redirected(from: response.url), completionHandler)
    }

    /// The outer session is asked; on Linux, which gives a protocol no way to do so, the 401 itself is the answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(Darwin)
        guard let forwarding = forwarding(task) else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        forwarding.ask(
            URLAuthenticationChallenge(
                authenticationChallenge: challenge,
                sender: ChallengeRelay(completionHandler)
            )
        )
        #else
        // It asks after the 401 has arrived whole, and without a credential never ends the task by itself
        // (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
        forwarding(task)?.finish(nil)
        // Elsewhere: it cancels the task, which on the loader's queue waits for that queue.
        DispatchQueue.global(qos: .userInitiated).async { completionHandler(.cancelAuthenticationChallenge, nil) }
        #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        forwardings.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.finish(error)
    }
}
