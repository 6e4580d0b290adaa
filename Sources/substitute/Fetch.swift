import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One URL loaded through a URLSession, and where the answer came from.
struct Fetch: Sendable {
    enum Source: Sendable, Hashable {
        /// The file is `nil` for an entry with a status alone.
        case substituted(file: String?)
        case defaultCache
        case network
        case failed(String)
    }

    let url: URL
    let source: Source
    let response: HTTPURLResponse?
    let body: Data
    let milliseconds: Double

    /// Loads a request. What counts for the source is what the session's cache has counted meanwhile, so one at a time.
    init(_ request: URLRequest, with session: URLSession) async {
        url = request.url ?? URL(fileURLWithPath: "/")
        let cache = session.configuration.urlCache as? LocalSubstitutionCache
        let before = cache?.statistics.fallbackHits ?? 0
        let start = ContinuousClock.now
        do {
            let (data, response) = try await session.data(for: request)
            milliseconds = Self.milliseconds(since: start)
            body = data
            self.response = response as? HTTPURLResponse
            let fallback = (cache?.statistics.fallbackHits ?? 0) > before ? Source.defaultCache : .network
            source = self.response.flatMap(Self.substitution) ?? fallback
        } catch {
            milliseconds = Self.milliseconds(since: start)
            body = Data()
            response = nil
            source = .failed((error as? URLError).map(Self.describe) ?? String(describing: error))
        }
    }

    var type: String { response?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType ?? "" }

    var hasFailed: Bool {
        if case .failed = source { true } else { false }
    }

    /// What the cache tells in `Cache-Status` (RFC 9211); `nil` if it did not answer.
    private static func substitution(_ response: HTTPURLResponse) -> Source? {
        let prefix = "LocalSubstitutionCache; hit"
        guard let status = response.value(forHTTPHeaderField: "Cache-Status"), status.hasPrefix(prefix) else {
            return nil
        }
        let file = status.split(separator: "\"").dropFirst().first.flatMap { String($0).removingPercentEncoding }
        return .substituted(file: file)
    }

    static func describe(_ error: URLError) -> String {
        let text = error.localizedDescription
        return text.isEmpty || text.hasPrefix("The operation could not") ? "URLError \(error.errorCode)" : text
    }

    private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .milliseconds(1)
    }
}

extension Fetch.Source: CustomStringConvertible {
    var description: String {
        switch self {
        case .substituted(let file): "substituted ← \((file ?? "no file").printable)"
        case .defaultCache: "default cache"
        case .network: "network"
        case .failed: "failed"
        }
    }
}

/// What `--json` says of a load.
struct FetchRecord: Encodable {
    let url: String
    let source: String
    let file: String?
    let status: Int?
    let type: String?
    let bytes: Int
    let milliseconds: Double
    let error: String?

    init(_ fetch: Fetch) {
        url = fetch.url.absoluteString
        status = fetch.response?.statusCode
        type = fetch.response == nil ? nil : fetch.type
        bytes = fetch.body.count
        milliseconds = (fetch.milliseconds * 100).rounded() / 100
        switch fetch.source {
        case .substituted(let name): (source, file, error) = ("substituted", name, nil)
        case .defaultCache: (source, file, error) = ("default cache", nil, nil)
        case .network: (source, file, error) = ("network", nil, nil)
        case .failed(let message): (source, file, error) = ("failed", nil, message)
        }
    }
}

extension Output {
    /// A row for each load: where it came from, status, MIME type, size, time, URL.
    func table(of fetches: [Fetch]) {
        table(
            fetches.map { fetch in
                let color: Color? =
                    switch fetch.source {
                    case .substituted: .green
                    case .failed: .red
                    case .defaultCache, .network: nil
                    }
                let status = fetch.response.map { String($0.statusCode) } ?? "—"
                return (
                    color,
                    [
                        fetch.source.description, status, fetch.type.isEmpty ? "—" : fetch.type,
                        "\(fetch.body.count) B",
                        Self.format(milliseconds: fetch.milliseconds), fetch.url.absoluteString,
                    ]
                )
            }
        )
    }

    static func format(milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
