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
    var source: Source
    let response: HTTPURLResponse?
    let body: Data
    let milliseconds: Double

    /// Loads a request.
    init(_ request: URLRequest, with loader: Loader) async {
        let start = ContinuousClock.now
        let result: Result<Loader.Answer, any Error>
        do {
            result = .success(try await loader.load(request))
        } catch {
            result = .failure(error)
        }
        self.init(request, result, milliseconds: (ContinuousClock.now - start) / .milliseconds(1))
    }

    /// What has come of a request.
    init(_ request: URLRequest, _ result: Result<Loader.Answer, any Error>, milliseconds: Double) {
        url = request.url ?? URL(fileURLWithPath: "/")
        self.milliseconds = milliseconds
        switch result {
        case .success(let answer):
            body = answer.body
            response = answer.response as? HTTPURLResponse
            let fallback = answer.isFromDefaultCache ? Source.defaultCache : .network
            source = response.flatMap(Self.substitution) ?? fallback
        case .failure(let error):
            body = Data()
            response = nil
            source = .failed((error as? URLError).map(Self.describe) ?? String(describing: error))
        }
    }

    var type: String { response?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType ?? "" }

    var hasFailed: Bool {
        if case .failed = source { true } else { false }
    }

    /// Whether there is an answer, and no HTTP error.
    var hasSucceeded: Bool { response.map { (200..<300).contains($0.statusCode) } ?? false }

    /// What the cache tells in `Cache-Status` (RFC 9211); `nil` if it did not answer.
    static func substitution(_ response: HTTPURLResponse) -> Source? {
        guard let status = response.value(forHTTPHeaderField: "Cache-Status"),
            status.hasPrefix(LocalSubstitutionCache.hitStatus)
        else { return nil }
        let file = status.split(separator: "\"").dropFirst().first.flatMap { String($0).removingPercentEncoding }
        return .substituted(file: file)
    }

    static func describe(_ error: URLError) -> String {
        let text = error.localizedDescription
        return text.isEmpty || text.hasPrefix("The operation could not") ? "URLError \(error.errorCode)" : text
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
