import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A URLSession that any number of requests are loaded through at a time.
final class Loader: Sendable {
    struct Answer: Sendable {
        let response: URLResponse
        let body: Data
        let isFromDefaultCache: Bool
        /// The requests for the targets of the redirects that led to it.
        var redirects: [URLRequest] = []
    }

    typealias Completion = @Sendable (Result<Answer, any Error>) -> Void

    private let session: URLSession
    private let delegate: LoaderDelegate

    /// - Parameters:
    ///   - defaultCacheHits: Tells which answers come from the default cache; without them none is said to.
    ///   - progress: Is told how many bytes of a body have come, and how many are to come, if that is known.
    init(
        _ configuration: URLSessionConfiguration,
        _ defaultCacheHits: DefaultCacheHits? = nil,
        progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)? = nil
    ) {
        delegate = LoaderDelegate(defaultCacheHits, progress)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Loads a request. The completion is called once, on a queue of the session.
    func load(_ request: URLRequest, completion: @escaping Completion) {
        let task = session.dataTask(with: request)
        delegate.add(task, completion)
        task.resume()
    }

    func load(_ request: URLRequest) async throws -> Answer {
        // Not `URLSession.data(for:)`: on Linux that never ends for a 401 with a challenge that nobody answers.
        try await withCheckedThrowingContinuation { continuation in
            load(request) { continuation.resume(with: $0) }
        }
    }

    func end() { session.invalidateAndCancel() }
}

/// The URLs for which the default cache has answered, told by the events of a cache.
final class DefaultCacheHits: Sendable {
    private let cache: LocalSubstitutionCache
    private let urls = Guarded<Set<URL>>([])

    /// - Parameter others: Is told the other events.
    init(
        of cache: LocalSubstitutionCache,
        others: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void = { _ in }
    ) {
        self.cache = cache
        cache.onEvent = { [weak self] event in
            if case .fallbackHit(let url) = event {
                self?.urls.withLock { _ = $0.insert(url) }
            } else {
                others(event)
            }
        }
    }

    /// Whether there was one for a URL since somebody has asked last.
    func take(_ url: URL?) -> Bool {
        cache.flushEvents()
        guard let url else { return false }
        return urls.withLock { $0.remove(url) != nil }
    }
}

/// Collects what comes for each task.
private final class LoaderDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Load: Sendable {
        let completion: Loader.Completion
        var response: URLResponse?
        var body = Data()
        var redirects: [URLRequest] = []
    }

    private let loads = Guarded<[Int: Load]>([:])
    private let defaultCacheHits: DefaultCacheHits?
    private let progress: (@Sendable (Int, Int64?) -> Void)?

    init(_ defaultCacheHits: DefaultCacheHits?, _ progress: (@Sendable (Int, Int64?) -> Void)?) {
        self.defaultCacheHits = defaultCacheHits
        self.progress = progress
    }

    func add(_ task: URLSessionTask, _ completion: @escaping Loader.Completion) {
        loads.withLock { $0[task.taskIdentifier] = Load(completion: completion) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        loads.withLock { $0[dataTask.taskIdentifier]?.response = response }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (count, expected) = loads.withLock { loads in
            loads[dataTask.taskIdentifier]?.body.append(data)
            let load = loads[dataTask.taskIdentifier]
            return (load?.body.count ?? 0, load?.response?.expectedContentLength ?? -1)
        }
        progress?(count, expected > 0 ? expected : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let request = request.redirected(from: response.url)
        loads.withLock { $0[task.taskIdentifier]?.redirects.append(request) }
        completionHandler(request)
    }

    #if !canImport(Darwin)
    /// Takes the 401 for the answer that it is. It has arrived whole by now, and without a credential Linux's loader never ends
    /// the task by itself (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        finish(task, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(task, error)
    }

    private func finish(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let load = loads.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return load.completion(.failure(error)) }
        guard let response = load.response ?? task.response else {
            return load.completion(.failure(URLError(.badServerResponse)))
        }
        let isHit = defaultCacheHits?.take(task.originalRequest?.url) ?? false
        let answer = Loader.Answer(
            response: response,
            body: load.body,
            isFromDefaultCache: isHit,
            redirects: load.redirects
        )
        load.completion(.success(answer))
    }
}
