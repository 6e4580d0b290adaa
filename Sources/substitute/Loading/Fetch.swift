import Dispatch
import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The result of loading a URL, and where the response came from.
struct Fetch: Sendable {
    /// The URL of the request, before any redirect.
    let url: URL
    var source: Source
    /// `nil` if the load failed.
    var exchange: Exchange?
    let milliseconds: Double
    /// Why `--record` didn't save the response, without a period; `nil` if it did, or if there was nothing to save.
    var notRecorded: String?

    /// Where a response came from, or why the load failed.
    struct Source: Sendable, Hashable, CustomStringConvertible {
        let name: String
        /// On a terminal; `nil` for no color.
        var color: Output.Color?
        /// The name of the file that an entry returned. `nil` if the entry returned none, if the name isn't known, or
        /// if no entry responded.
        var file: String?
        /// Why the load failed; `nil` if it succeeded.
        var reason: String?

        static func matched(file: String?) -> Source { Source(name: "matched", color: .green, file: file) }
        /// The recorded response was returned, after the server confirmed that it's current.
        static let confirmed = Source(name: "confirmed", color: .green)
        static let defaultCache = Source(name: "default cache")
        static let network = Source(name: "network")
        static func failed(_ reason: String) -> Source { Source(name: "failed", color: .red, reason: reason) }

        /// Whether an entry or a recording responded, with or without a file.
        var isMatched: Bool { name == "matched" }
        var description: String { isMatched ? "matched ← \(file ?? "the map")" : name }
    }

    /// The response's `Content-Type`. Without this header, the type that Foundation guesses. Empty if there's no
    /// response.
    var type: String { response?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType ?? "" }

    var response: HTTPURLResponse? { exchange?.response }

    /// Empty if the load failed.
    var body: Data { exchange?.body ?? Data() }

    var hasFailed: Bool { source.reason != nil }

    /// Any 2xx status is a success.
    var hasSucceeded: Bool { response.map { (200..<300).contains($0.statusCode) } ?? false }

    /// Returns the JSON object that `--json` prints for this fetch.
    ///
    /// - Parameter isTimed: Whether the object has the load's duration; `true` by default.
    func json(isTimed: Bool = true) -> Output.JSONObject {
        [
            "url": url.absoluteString, "source": source.name, "file": source.file, "status": response?.statusCode,
            "type": response.map { _ in type }, "bytes": body.count,
            "milliseconds": isTimed ? milliseconds.roundedToHundredths : nil, "error": source.reason,
            "notRecorded": notRecorded,
        ]
    }
}

extension Output {
    /// Prints a table with a row for each fetch: the source, the status, content type, size, duration and URL.
    ///
    /// - Parameter showsTimes: Whether the table has a column for durations; `true` by default.
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
    var millisecondsAgo: Double { Double(DispatchTime.now().uptimeNanoseconds - uptimeNanoseconds) / 1e6 }
}

extension Double {
    var roundedToHundredths: Double { (self * 100).rounded() / 100 }
}
