import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Keeps track of what answered which URL, according to a cache's events. Headers aren't proof, since they may come from the
/// network.
final class AnswerSources: Sendable {
    private enum Source { case entry, confirmed, defaultCache }

    private let cache: LocalSubstitutionCache
    /// The source of each answer that hasn't been taken yet.
    private let sources = Guarded<[URL: [Source]]>([:])

    /// - Parameter others: Receives all other events.
    init(
        of cache: LocalSubstitutionCache,
        others: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void = { _ in }
    ) {
        self.cache = cache
        cache.hear { [weak self] event in
            switch event.kind {
            case .substituted: self?.note(event.url, .entry)
            case .confirmed: self?.note(event.url, .confirmed)
            case .fallbackHit: self?.note(event.url, .defaultCache)
            default: others(event)
            }
        }
    }

    /// Returns what answered a request, and forgets it. That's the network if the cache hasn't answered its URL.
    ///
    /// Call it once for each response, as soon as it arrives. Otherwise a load that fails later could leave its source to another
    /// load.
    func take(_ response: URLResponse, to request: URLRequest) -> Fetch.Source {
        // An entry may have answered the target of a redirect.
        return switch takeLast(of: response.url) ?? takeLast(of: request.url) {
        case .entry: .substituted(file: Self.file(of: response, by: cache))
        case .confirmed: .confirmed
        case .defaultCache: .defaultCache
        case nil: .network
        }
    }

    private func note(_ url: URL?, _ source: Source) {
        if let url { sources.withLock { $0[url, default: []].append(source) } }
    }

    private func takeLast(of url: URL?) -> Source? {
        guard let url else { return nil }
        return sources.withLock { sources in
            let source = sources[url]?.popLast()
            if sources[url]?.isEmpty == true { sources[url] = nil }
            return source
        }
    }

    /// Returns the name of the file in one of a cache's responses, from its `Cache-Status` or else from its entry.
    static func file(of response: URLResponse, by cache: LocalSubstitutionCache) -> String? {
        guard let status = response.substitutionStatus else {
            return response.url.flatMap { cache.map.substitution(for: $0)?.fileName }
        }
        return status.split(separator: "\"").dropFirst().first.map {
            String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self)
        }
    }
}
