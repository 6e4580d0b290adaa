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
        let result = await loader.load(request)
        self.init(request, result, milliseconds: (ContinuousClock.now - start) / .milliseconds(1))
    }

    /// What has come of a request.
    init(_ request: URLRequest, _ result: Result<Loader.Answer, URLError>, milliseconds: Double) {
        url = request.url ?? URL(fileURLWithPath: "/")
        self.milliseconds = milliseconds
        switch result {
        case .success(let answer):
            body = answer.body
            response = answer.response as? HTTPURLResponse
            source = answer.source
        case .failure(let error):
            body = Data()
            response = nil
            source = .failed(Self.describe(error))
        }
    }

    var type: String { response?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType ?? "" }

    var hasFailed: Bool {
        if case .failed = source { true } else { false }
    }

    /// Whether there is an answer, and no HTTP error.
    var hasSucceeded: Bool { response.map { (200..<300).contains($0.statusCode) } ?? false }

    static func describe(_ error: URLError) -> String {
        let text = error.localizedDescription
        return text.isEmpty || text.hasPrefix("The operation could not") ? "URLError \(error.errorCode)" : text
    }
}

extension Fetch.Source: CustomStringConvertible {
    var description: String {
        switch self {
        case .substituted(let file): "substituted ← \(file ?? "no file")"
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
    let milliseconds: Double?
    let error: String?

    init(_ fetch: Fetch, isTimed: Bool = true) {
        url = fetch.url.absoluteString
        status = fetch.response?.statusCode
        type = fetch.response == nil ? nil : fetch.type
        bytes = fetch.body.count
        milliseconds = isTimed ? (fetch.milliseconds * 100).rounded() / 100 : nil
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
    ///
    /// - Parameter showsTimes: Whether the table has a column for the times.
    func table(of fetches: [Fetch], showsTimes: Bool = true) {
        table(
            fetches.map { fetch in
                let color: PrintedText.Color? =
                    switch fetch.source {
                    case .substituted: .green
                    case .failed: .red
                    case .defaultCache, .network: nil
                    }
                let status = fetch.response.map { String($0.statusCode) } ?? "—"
                let cells = [
                    fetch.source.description, status, fetch.type.isEmpty ? "—" : fetch.type,
                    Self.format(bytes: fetch.body.count),
                ]
                let times = showsTimes ? [Self.format(milliseconds: fetch.milliseconds)] : []
                return (color, cells + times + [fetch.url.absoluteString])
            },
            numbers: showsTimes ? [3, 4] : [3]
        )
    }
}
