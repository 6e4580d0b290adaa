import Dispatch
import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A URL session that loads requests, and finds out where each response came from.
final class Loader: Sendable {
    private let session: URLSession
    private let collector = ResponseCollector(.current)
    private let limit: Limit
    /// If it's `nil`, all responses are treated as the network's.
    private let sources: Sources?
    /// Called whenever bytes of a body arrive; `nil` to call nothing.
    private let progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)?

    /// Creates a loader with a new session.
    ///
    /// - Parameters:
    ///   - limit: The size of the largest body to load from the network; 256 MiB by default. Bodies of entries may be
    ///     larger.
    ///   - sources: The record of where responses come from. If it's `nil`, the default, all responses are treated as
    ///     the network's.
    ///   - progress: Called whenever bytes of a body arrive, with the number of bytes so far and the expected number,
    ///     which is `nil` if it isn't known. By default, nothing is called.
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

    /// Doesn't throw if the load fails: the fetch's `source` then has the reason.
    func load(_ request: URLRequest) async -> Fetch {
        let start = DispatchTime.now()
        let source = Guarded(Fetch.Source.network)
        // On Linux, `URLSession.data(for:)` never returns for a status 401 whose challenge isn't answered. So the
        // collector is the delegate of a data task.
        let result = await withCheckedContinuation { continuation in
            let task = session.dataTask(with: request)
            let limit: @Sendable (URLResponse) -> Int = { [sources, limit] head in
                let taken = sources?.take(head, to: request) ?? .network
                source.withLock { $0 = taken }
                return taken.isMatched || taken == .confirmed ? .max : limit.bytes
            }
            let owner = ResponseCollector.Owner(limit: limit, body: .whole(progress: progress)) {
                continuation.resume(returning: $0)
            }
            collector.collect(task, of: session, for: owner)
            task.resume()
        }
        let milliseconds = start.millisecondsAgo
        let url = request.url ?? URL(fileURLWithPath: "/")
        // The cache reports an entry's stream or error only when the load ends, so look for a report again. But if the
        // record has already returned this load's report, don't look: a second report would belong to another load.
        var taken = source.withLock { $0 }
        if taken == .network { taken = sources?.take(try? result.get().head, to: request) ?? .network }
        switch result {
        case .success(let response):
            let exchange = (response.head as? HTTPURLResponse).map {
                Exchange(request: request, response: $0, body: response.data ?? Data(), redirects: response.redirects)
            }
            return Fetch(url: url, source: taken, exchange: exchange, milliseconds: milliseconds)
        case .failure(let error):
            return Fetch(url: url, source: .failed(description(of: error)), milliseconds: milliseconds)
        }
    }

    private func description(of error: URLError) -> String {
        if error.code == .dataLengthExceedsMaximum { return limit.refusal }
        let text = error.localizedDescription
        guard !text.isEmpty, !text.hasPrefix("The operation could not") else {
            return "URLSession failed with the error \(error.errorCode). Look up the number in URLError.Code."
        }
        // An explanation with several lines ends in a list, so it gets no period.
        return text.contains("\n") ? text : text.sentence
    }

    /// Cancels all loads. Returns at once.
    func end() { collector.end(session) }
}

extension Loader {
    /// A record of where each URL's response came from, made from a cache's events. Response headers aren't reliable
    /// here, since a server can send any header.
    final class Sources: Sendable {
        private let cache: LocalSubstitutionCache
        /// The sources that the cache has reported, by URL. ``take(_:to:)`` removes the one that it returns.
        private let sources = Guarded<[URL: [Fetch.Source]]>([:])
        private let notRecorded = Guarded<String?>(nil)

        /// Listens to the cache's events from now on.
        init(of cache: LocalSubstitutionCache) {
            self.cache = cache
            cache.hear { [weak self] event in
                switch event.kind {
                case .matched, .usedOffline: self?.note(event.url, .matched(file: nil))
                case .confirmed: self?.note(event.url, .confirmed)
                case .defaultCacheHit: self?.note(event.url, .defaultCache)
                case .notRecorded: self?.notRecorded.withLock { $0 = event.reason }
                default: break
                }
            }
        }

        /// Returns the source of a request's response, and removes it from the record. Returns the network if the
        /// record has nothing for either the request's URL or the response's URL.
        ///
        /// Call this when a response arrives. If the result is the network, call it again when the load ends or fails,
        /// since the cache may have reported late. A report that isn't removed would be returned for the next load of
        /// the same URL.
        ///
        /// - Parameter response: The response; `nil` for a load that failed.
        func take(_ response: URLResponse?, to request: URLRequest) -> Fetch.Source {
            // If redirects led to another URL, an entry may have matched that URL. So look there first.
            let source = takeLast(of: response?.url) ?? takeLast(of: request.url) ?? .network
            guard source.isMatched, let response else { return source }
            return .matched(file: Self.file(of: response, by: cache))
        }

        /// Returns why the last response wasn't recorded, and forgets that; `nil` if it was, or if there was none.
        func takeReasonNotRecorded() -> String? {
            notRecorded.withLock { reason in
                defer { reason = nil }
                return reason
            }
        }

        /// Ignores a missing URL.
        private func note(_ url: URL?, _ source: Fetch.Source) {
            if let url { sources.withLock { $0[url, default: []].append(source) } }
        }

        /// Returns the source last recorded for a URL, and removes it. Returns `nil` if no source is recorded, or
        /// without a URL.
        private func takeLast(of url: URL?) -> Fetch.Source? {
            url.flatMap { url in
                sources.withLock { sources in
                    defer { if sources[url]?.isEmpty == true { sources[url] = nil } }
                    return sources[url]?.popLast()
                }
            }
        }

        /// Returns the name of the file that a cache returned. Reads it from the response's `Cache-Status`, or looks up
        /// the response's URL in the map if the cache hasn't set this header.
        ///
        /// Returns `nil` if the cache returned no file, or if the file isn't known.
        static func file(of response: URLResponse, by cache: LocalSubstitutionCache) -> String? {
            guard let status = response.substitutionStatus else {
                return response.url.flatMap { cache.map.substitution(for: $0)?.fileName }
            }
            return status.split(separator: "\"").dropFirst().first.map {
                String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self)
            }
        }
    }

    /// The size of the largest body to load from a URL, in bytes. Users type it as `5000`, `64k`, `256MiB` or `1GB`.
    struct Limit: Sendable, CustomStringConvertible {
        let bytes: Int

        /// Without the option `--limit`: 256 MiB.
        static let standard = Limit(bytes: 256 << 20)

        static let option = Subcommand.Option.option("limit", "SIZE", help: "the largest body to load (default: 256M)")

        private init(bytes: Int) { self.bytes = bytes }

        /// Creates the limit that `--limit` sets, or the standard limit without this option.
        ///
        /// - Throws: A failure if the option's value isn't a size.
        init(_ arguments: Arguments) throws(Complaint) {
            let advice = "Use --limit with a size such as 500000, 64k or 256M."
            self = try arguments.all("limit", as: "a size", advice) { Limit($0) }.last ?? .standard
        }

        /// Reads a size such as `64k`. The units `k`, `M` and `G` are powers of 1,024, also as `kiB`, `MiB` and `GiB`.
        /// The units `kB`, `MB` and `GB` are powers of 1,000.
        ///
        /// Returns `nil` if the text isn't a whole number with an optional unit, if the number is 0, or if the size is
        /// too large for an `Int`.
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

        /// The message for a body that wasn't loaded because it's larger than this limit.
        var refusal: String { "The body is larger than \(self). Raise the limit with --limit." }
    }
}
