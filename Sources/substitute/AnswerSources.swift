import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Who answered which URL, according to a cache's events. Headers aren't proof, since they may come from the network.
final class AnswerSources: Sendable {
    private enum Source { case entry, defaultCache }

    private let cache: LocalSubstitutionCache
    private let sources = Guarded<[URL: Source]>([:])

    /// - Parameter others: Receives all other events.
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

    /// Returns who answered a request, and forgets it. It's the network if the cache hasn't answered its URL since the last call.
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

    /// Returns the name of the file in one of the cache's responses, from its `Cache-Status` or else its entry.
    static func file(of response: URLResponse, in map: SubstitutionMap) -> String? {
        guard let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status"),
            status.hasPrefix(LocalSubstitutionCache.hitStatus)
        else { return response.url.flatMap { map.substitution(for: $0)?.fileName } }
        return status.split(separator: "\"").dropFirst().first.flatMap { String($0).removingPercentEncoding }
    }
}
