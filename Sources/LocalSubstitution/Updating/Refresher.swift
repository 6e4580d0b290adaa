import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads from the network for the library itself, through a session of its own: without a cache, cookies or credentials.
final class Refresher: NSObject, URLSessionDataDelegate, Sendable {
    enum Outcome: Sendable {
        case answer(HTTPURLResponse, Data)
        /// The reason is readable.
        case failed(String)
    }

    private struct Load: Sendable {
        let limit: Int
        let completion: @Sendable (Outcome) -> Void
        var response: HTTPURLResponse?
        var data = Data()
        var isTooLarge = false
    }

    private struct State: Sendable {
        /// Made at first use. It holds its delegate until it is invalidated.
        var session: URLSession?
        var loads: [Int: Load] = [:]
    }

    private let state = Guarded(State())

    /// Loads. It must not be called within a lookup.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that a body may have: what has more is given up, however much it would be.
    ///   - completion: Is called once, on another queue.
    func load(_ request: URLRequest, limit: Int, completion: @escaping @Sendable (Outcome) -> Void) {
        let task = state.withLock { state in
            let session = state.session ?? makeSession()
            state.session = session
            let task = session.dataTask(with: request)
            state.loads[task.taskIdentifier] = Load(limit: limit, completion: completion)
            return task
        }
        task.resume()
    }

    /// Gives up what is being loaded. Elsewhere, since the last reference to a cache may go on a queue of a session's.
    func end() {
        guard let session = state.withLock({ $0.session.take() }) else { return }
        DispatchQueue.global(qos: .utility).async { session.invalidateAndCancel() }
    }

    private func makeSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForResource = 600
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    // MARK: What comes of it

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.loads[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard let load = state.loads[dataTask.taskIdentifier], !load.isTooLarge else { return false }
            guard load.data.count + data.count <= load.limit else {
                state.loads[dataTask.taskIdentifier]?.isTooLarge = true
                return true
            }
            state.loads[dataTask.taskIdentifier]?.data.append(data)
            return false
        }
        if isTooLarge { DispatchQueue.global(qos: .utility).async { dataTask.cancel() } }
    }

    /// Nothing is trusted that the system does not trust, and no credential is known: a 401 is an answer.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Linux asks after the 401 has arrived whole, and without a credential never ends the task by itself
        // (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
        #if !canImport(Darwin)
        if let response = challenge.failureResponse as? HTTPURLResponse {
            finish(task) { _ in .answer(response, Data()) }
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        #endif
        completionHandler(.performDefaultHandling, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(task) { load in
            if load.isTooLarge {
                return .failed("the answer has more than \(load.limit) bytes, which is all there is room for")
            }
            if let error { return .failed(error.localizedDescription) }
            guard let response = load.response else { return .failed("the answer is none of HTTP") }
            return .answer(response, load.data)
        }
    }

    private func finish(_ task: URLSessionTask, _ outcome: (Load) -> Outcome) {
        guard let load = state.withLock({ $0.loads.removeValue(forKey: task.taskIdentifier) }) else { return }
        load.completion(outcome(load))
    }
}
