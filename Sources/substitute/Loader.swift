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
    }

    typealias Completion = @Sendable (Result<Answer, URLError>) -> Void

    private let session: URLSession
    private let collector = ResponseCollector()
    private let defaultCacheHits: DefaultCacheHits?
    private let progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)?

    /// - Parameters:
    ///   - defaultCacheHits: Tells which answers come from the default cache; without them none is said to.
    ///   - progress: Is told how many bytes of a body have come, and how many are to come, if that is known.
    init(
        _ configuration: URLSessionConfiguration,
        _ defaultCacheHits: DefaultCacheHits? = nil,
        progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)? = nil
    ) {
        self.defaultCacheHits = defaultCacheHits
        self.progress = progress
        session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
    }

    /// Loads a request. The completion is called once, on a queue of the session.
    func load(_ request: URLRequest, completion: @escaping Completion) {
        let task = session.dataTask(with: request)
        let owner = ResponseCollector.Owner(limit: .max, progress: progress) { [defaultCacheHits] result in
            completion(
                result.map { response in
                    Answer(
                        response: response.head,
                        body: response.body ?? Data(),
                        isFromDefaultCache: defaultCacheHits?.take(request.url) ?? false
                    )
                }
            )
        }
        collector.collect(task, of: session, for: owner)
        task.resume()
    }

    func load(_ request: URLRequest) async -> Result<Answer, URLError> {
        // Not `URLSession.data(for:)`: on Linux that never ends for a 401 with a challenge that nobody answers.
        await withCheckedContinuation { continuation in
            load(request) { continuation.resume(returning: $0) }
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
