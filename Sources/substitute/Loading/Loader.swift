import Dispatch
import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A URLSession that loads any number of requests at a time.
final class Loader: Sendable {
    private let session: URLSession
    private let collector = ResponseCollector()
    private let limit: Limit
    private let sources: Sources?
    private let progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)?

    /// - Parameters:
    ///   - limit: The longest body to load from the network. An entry's own file may be longer.
    ///   - sources: Tells what answered each request. Without it, every answer counts as the network's.
    ///   - progress: Called with the number of bytes of a body that have arrived, and the expected number if it's known.
    init(
        _ configuration: URLSessionConfiguration,
        limit: Limit = .standard,
        _ sources: Sources? = nil,
        progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)? = nil
    ) {
        self.limit = limit
        self.sources = sources
        self.progress = progress
        session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
    }

    func load(_ request: URLRequest) async -> Fetch {
        let start = DispatchTime.now()
        let source = Guarded(Fetch.Source.network)
        // Not `URLSession.data(for:)`, which on Linux never ends for a 401 whose challenge isn't answered.
        let result = await withCheckedContinuation { continuation in
            let task = session.dataTask(with: request)
            let isLimited: @Sendable (URLResponse) -> Bool = { [sources] head in
                let taken = sources?.take(head, to: request) ?? .network
                source.withLock { $0 = taken }
                return !taken.isSubstituted && taken != .confirmed
            }
            let owner = ResponseCollector.Owner(limit: limit.bytes, isLimited: isLimited, progress: progress) {
                continuation.resume(returning: $0)
            }
            collector.collect(task, of: session, for: owner)
            task.resume()
        }
        let milliseconds = start.millisecondsAgo
        let url = request.url ?? URL(fileURLWithPath: "/")
        // An entry's stream or error is reported only at the end of the load. If this load's report was taken before, a
        // second one would be another load's.
        var taken = source.withLock { $0 }
        if taken == .network { taken = sources?.take(try? result.get().head, to: request) ?? .network }
        switch result {
        case .success(let response):
            return Fetch(
                url: url,
                source: taken,
                response: response.head as? HTTPURLResponse,
                body: response.body ?? Data(),
                redirects: response.redirects,
                milliseconds: milliseconds
            )
        case .failure(let error):
            return Fetch(url: url, source: .failed(description(of: error)), milliseconds: milliseconds)
        }
    }

    private func description(of error: URLError) -> String {
        if error.code == .dataLengthExceedsMaximum { return limit.refusal }
        let text = error.localizedDescription
        guard !text.isEmpty, !text.hasPrefix("The operation could not") else {
            return "URLSession failed with the error \(error.errorCode)."
        }
        // An explanation of several lines doesn't end with a sentence.
        return text.contains("\n") ? text : text.sentence
    }

    /// Cancels all loads. Uses another queue, since on Linux, `invalidateAndCancel()` waits until all received data is
    /// decoded.
    func end() {
        DispatchQueue.global(qos: .utility).async { [session] in session.invalidateAndCancel() }
    }
}

extension Loader {
    /// What answered which URL, according to a cache's events. Headers aren't proof, since they may come from the network.
    final class Sources: Sendable {
        private let cache: LocalSubstitutionCache
        /// The sources of answers, by URL, until ``take(_:to:)`` returns them.
        private let sources = Guarded<[URL: [Fetch.Source]]>([:])

        /// - Parameter others: Receives the events that don't tell what answered.
        init(
            of cache: LocalSubstitutionCache,
            others: @escaping @Sendable (LocalSubstitutionCache.Event) -> Void = { _ in }
        ) {
            self.cache = cache
            cache.hear { [weak self] event in
                switch event.kind {
                case .substituted: self?.note(event.url, .substituted(file: nil))
                case .confirmed: self?.note(event.url, .confirmed)
                case .fallbackHit: self?.note(event.url, .defaultCache)
                default: others(event)
                }
            }
        }

        /// Returns what answered a request, and forgets it. Returns the network if the cache hasn't answered the URL.
        ///
        /// Call this when a response arrives and, if the result is the network, again when the load ends or fails.
        /// Otherwise, another load of the URL could get this load's source.
        func take(_ response: URLResponse?, to request: URLRequest) -> Fetch.Source {
            // An entry may have answered the target of a redirect.
            let source = takeLast(of: response?.url) ?? takeLast(of: request.url) ?? .network
            guard source.isSubstituted, let response else { return source }
            return .substituted(file: Self.file(of: response, by: cache))
        }

        private func note(_ url: URL?, _ source: Fetch.Source) {
            if let url { sources.withLock { $0[url, default: []].append(source) } }
        }

        private func takeLast(of url: URL?) -> Fetch.Source? {
            url.flatMap { url in
                sources.withLock { sources in
                    defer { if sources[url]?.isEmpty == true { sources[url] = nil } }
                    return sources[url]?.popLast()
                }
            }
        }

        /// Returns the name of the file that a cache answered with, from the response's `Cache-Status` if it has one,
        /// otherwise from the map.
        static func file(of response: URLResponse, by cache: LocalSubstitutionCache) -> String? {
            guard let status = response.substitutionStatus else {
                return response.url.flatMap { cache.map.substitution(for: $0)?.fileName }
            }
            return status.split(separator: "\"").dropFirst().first.map {
                String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self)
            }
        }
    }

    /// The longest body to load from a URL: a number of bytes as people type it, such as `5000`, `64k`, `256MiB` or `1GB`.
    struct Limit: Sendable, CustomStringConvertible {
        let bytes: Int

        /// The limit unless `--limit` says otherwise.
        static let standard = Limit(bytes: 256 << 20)

        static let option = Subcommand.Option.option("limit", "SIZE", help: "the largest body to load (default: 256M)")

        private init(bytes: Int) { self.bytes = bytes }

        /// Creates the limit that `--limit` sets; without the option, the standard one.
        init(_ arguments: Arguments) throws(Failure) {
            guard let text = arguments.value("limit") else {
                self = .standard
                return
            }
            guard let limit = Limit(text) else {
                throw Failure(usage: "“\(text)” isn't a size. Use --limit with a size such as 500000, 64k or 256M.")
            }
            self = limit
        }

        /// Reads a size as `curl` and `head` do: `k`, `M` and `G` are powers of 1,024, alone or with `iB`, and of 1,000 with `B`.
        ///
        /// Returns `nil` if the text isn't a number above 0, or if it's too large.
        init?(_ text: String) {
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            let unit = text.dropFirst(digits.count)
            guard let number = Int(digits), number > 0, ["", "B", "iB"].contains(unit.dropFirst()),
                let power = ["", "k", "m", "g"].firstIndex(of: unit.prefix(1).lowercased())
            else { return nil }
            let base = unit.dropFirst() == "B" ? 1_000 : 1_024
            let (bytes, isTooLarge) = number.multipliedReportingOverflow(
                by: (0..<power).reduce(1) { factor, _ in factor * base }
            )
            guard !isTooLarge else { return nil }
            self.bytes = bytes
        }

        var description: String {
            for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes % (1 << shift) == 0 {
                return "\((bytes >> shift).grouped) \(unit)"
            }
            return bytes.counted("byte", "bytes")
        }

        /// Why a body that's longer than this limit isn't loaded.
        var refusal: String { "The body is larger than \(self). Raise the limit with --limit." }
    }
}
