import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One URL loaded through a URLSession, and where the answer came from.
struct Fetch: Sendable {
    let url: URL
    var source: Source
    var response: HTTPURLResponse?
    var body = Data()
    /// The requests that followed redirects, up to the one that got the response.
    var redirects: [URLRequest] = []
    let milliseconds: Double

    /// What answered, or why nothing did.
    struct Source: Sendable, Hashable, CustomStringConvertible {
        let name: String
        var color: Output.Color?
        /// The file of the entry that answered; `nil` if the entry has none.
        var file: String?
        /// Why the load failed; `nil` if it didn't.
        var reason: String?

        static func substituted(file: String?) -> Source { Source(name: "substituted", color: .green, file: file) }
        /// The recorder's copy answered, after the network confirmed that it's current.
        static let confirmed = Source(name: "confirmed", color: .green)
        static let defaultCache = Source(name: "default cache")
        static let network = Source(name: "network")
        static func failed(_ reason: String) -> Source { Source(name: "failed", color: .red, reason: reason) }

        /// Whether an entry answered, with or without a file.
        var isSubstituted: Bool { name == "substituted" }
        var description: String { isSubstituted ? "substituted ← \(file ?? "the map")" : name }
    }

    var type: String { response?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType ?? "" }

    var hasFailed: Bool { source.reason != nil }

    /// Whether there is an HTTP response, and its status is 2xx.
    var hasSucceeded: Bool { response.map { (200..<300).contains($0.statusCode) } ?? false }

    /// Returns the JSON that `--json` prints for the load.
    func json(isTimed: Bool = true) -> Output.JSONObject {
        [
            "url": url.absoluteString, "source": source.name, "file": source.file, "status": response?.statusCode,
            "type": response.map { _ in type }, "bytes": body.count,
            "milliseconds": isTimed ? milliseconds.roundedToHundredths : nil, "error": source.reason,
        ]
    }
}

extension Output {
    /// Prints a row for each load: where it came from, its status, MIME type, size, time and URL.
    ///
    /// - Parameter showsTimes: Whether there is a column for times.
    func table(of fetches: [Fetch], showsTimes: Bool = true) {
        table(
            fetches.map { fetch in
                let status = fetch.response.map { String($0.statusCode) } ?? "—"
                let cells = [
                    fetch.source.description, status, fetch.type.isEmpty ? "—" : fetch.type,
                    Self.format(bytes: fetch.body.count),
                ]
                let times = showsTimes ? [Self.format(milliseconds: fetch.milliseconds)] : []
                return (fetch.source.color, cells + times + [fetch.url.absoluteString])
            },
            numbers: showsTimes ? [3, 4] : [3]
        )
    }
}

extension DispatchTime {
    /// The time since then, in milliseconds.
    var millisecondsAgo: Double { Double(DispatchTime.now().uptimeNanoseconds - uptimeNanoseconds) / 1e6 }
}

extension Double {
    var roundedToHundredths: Double { (self * 100).rounded() / 100 }
}
