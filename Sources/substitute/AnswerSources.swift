import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Who answered which URL, as the events of a cache tell it: a header that names the cache may come from the network.
final class AnswerSources: Sendable {
    private enum Source { case entry, defaultCache }

    private let cache: LocalSubstitutionCache
    private let sources = Guarded<[URL: Source]>([:])

    /// - Parameter others: Receives the other events.
    init(
        of cache: LocalSubstitutionCache,
        others: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void = { _ in }
    ) {
        self.cache = cache
        cache.onEvent = { [weak self] event in
            switch event {
            case .substituted(let url, _, _, _): self?.note(url, .entry)
            case .fallbackHit(let url): self?.note(url, .defaultCache)
            default: others(event)
            }
        }
    }

    /// Returns who answered a request, and forgets it: the network if the cache hasn't since the last call for its URL.
    func take(_ response: URLResponse, to request: URLRequest) -> Fetch.Source {
        cache.flushEvents()
        let source = sources.withLock { sources in
            // An entry may have answered the target of a redirect.
            let urls = Set([response.url, request.url].compactMap { $0 })
            return urls.compactMap { sources.removeValue(forKey: $0) }.first
        }
        return switch source {
        case .entry: .substituted(file: Self.file(of: response, in: cache.map))
        case .defaultCache: .defaultCache
        case nil: .network
        }
    }

    private func note(_ url: URL, _ source: Source) { sources.withLock { $0[url] = source } }

    /// The name of the file in a response that the cache has given: what its `Cache-Status` says, or else its entry.
    static func file(of response: URLResponse, in map: SubstitutionMap) -> String? {
        guard let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status"),
            status.hasPrefix(LocalSubstitutionCache.hitStatus)
        else { return response.url.flatMap { map.substitution(for: $0)?.fileName } }
        return status.split(separator: "\"").dropFirst().first.flatMap { String($0).removingPercentEncoding }
    }
}
