import Foundation
import LocalSubstitution
import MapTools
import WebReferences

/// The report of `get --parts` about a page, for a terminal and as JSON.
struct PageReport: Encodable {
    let parts: [FetchRecord]
    let totals: Totals
    let leftOut: [String]
    /// File names by URL, as in a map.
    let missing: [String: String]
    private let suggestion: SuggestedMap

    private enum CodingKeys: CodingKey { case parts, totals, leftOut, missing }

    /// Where the parts came from.
    struct Totals: Encodable {
        let substituted: Int
        let confirmed: Int
        let fromDefaultCache: Int
        let fromNetwork: Int
        let failed: Int
        /// The bytes of responses that came from files and the default cache.
        let bytesNotCarried: Int
        let milliseconds: Double
    }

    /// - Parameter suggestsEntries: Whether to list what failed as a map.
    init(_ page: LoadedPage, milliseconds: Double, suggestsEntries: Bool) {
        let fetches = page.fetches
        let local = fetches.filter { $0.source != .network && !$0.hasFailed }
        let confirmed = fetches.count { $0.source == .confirmed }
        let fromDefaultCache = fetches.count { $0.source == .defaultCache }
        totals = Totals(
            substituted: local.count - confirmed - fromDefaultCache,
            confirmed: confirmed,
            fromDefaultCache: fromDefaultCache,
            fromNetwork: fetches.count { $0.source == .network },
            failed: fetches.count { $0.hasFailed },
            bytesNotCarried: local.reduce(0) { $0 + $1.body.count },
            milliseconds: (milliseconds * 100).rounded() / 100
        )
        parts = fetches.map { FetchRecord($0) }
        leftOut = page.leftOut.lines
        suggestion = suggestsEntries ? Self.suggestedMap(for: page) : SuggestedMap()
        missing = suggestion.files
    }

    /// Prints the totals, and then what was left out or is missing.
    func print(to output: Output) {
        let confirmed = totals.confirmed > 0 ? "\(totals.confirmed.grouped) confirmed, " : ""
        output.line(
            """

            \(totals.substituted.grouped) substituted, \(confirmed)\(totals.fromDefaultCache.grouped) from the default cache, \
            \(totals.fromNetwork.grouped) from the network, \(totals.failed.grouped) failed
            \(Output.format(bytes: totals.bytesNotCarried)) from files and the default cache, in \
            \(Output.format(milliseconds: totals.milliseconds))
            """
        )
        if !leftOut.isEmpty { output.line("\nLeft out:\n\(lines: leftOut.joined(separator: "\n"))") }
        if !missing.isEmpty { output.line("\nMissing, as a map:\n\(lines: suggestion.text)") }
    }

    private static func suggestedMap(for page: LoadedPage) -> SuggestedMap {
        var map = SuggestedMap()
        for part in page.parts where part.fetch?.hasFailed ?? false {
            let type: String? =
                switch part.kind {
                case .frame: "text/html"
                case .styleSheet: "text/css"
                case .script, .module: "text/javascript"
                case .other, .link: nil
                }
            map.add(part.url, type: type)
        }
        return map
    }
}
