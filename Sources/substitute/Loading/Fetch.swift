import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One URL loaded through a URLSession, and where the answer came from.
struct Fetch: Sendable {
    enum Source: Sendable, Hashable {
        /// The file is `nil` if the entry answers without one.
        case substituted(file: String?)
        /// A recorder's copy answered, since the network said that it's current.
        case confirmed
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
        let stopwatch = Stopwatch()
        let result = await loader.load(request)
        self.init(request, result, milliseconds: stopwatch.milliseconds)
    }

    /// Makes a fetch from a request's result.
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

    /// Whether there is an HTTP response, and its status is 2xx.
    var hasSucceeded: Bool { response.map { (200..<300).contains($0.statusCode) } ?? false }

    static func describe(_ error: URLError) -> String {
        let text = error.localizedDescription
        guard !text.isEmpty, !text.hasPrefix("The operation could not") else {
            return "URLSession failed with the error \(error.errorCode)."
        }
        // An explanation of several lines doesn't end with a sentence.
        return text.contains("\n") ? text : text.sentence
    }
}

extension Fetch.Source: CustomStringConvertible {
    var description: String {
        switch self {
        case .substituted(let file): "substituted ← \(file ?? "the map")"
        case .confirmed: "confirmed"
        case .defaultCache: "default cache"
        case .network: "network"
        case .failed: "failed"
        }
    }
}
