import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let pageCommand = Subcommand(
    name: "page",
    operands: "URL",
    summary: "load a page and its parts, and save it as one file",
    details: """
        Loads a page and what its HTML and CSS refer to, six at a time, through a
        URLSession to which a LocalSubstitutionCache is attached, and prints where each
        part came from, as get does, and the totals. Links that a reader may follow,
        frames and what scripts load are left alone.

        With --save the page becomes one file that needs no network: its parts stand in
        it as data: URLs. Parts that were not loaded stay as they were and are listed.
        With --offline nothing reaches the network, and what is missing is printed as a
        map. Exit status 1 if the page itself gets no answer or an HTTP error, or a part
        gets no answer; an HTTP error is an answer for a part.
        """,
    options: CommandSession.options + [
        Option(name: "save", value: "FILE", help: "write the page as one HTML file")
    ],
    run: page
)

private func page(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    guard let request = requests.first, requests.count == 1 else { throw Failure(usage: "page takes one URL") }
    let url = request.url.flatMap { URLText.resolve(Array($0.absoluteString.utf8), charset: nil, against: $0) }
    guard let url else { throw Failure(usage: "page takes an http or https URL") }

    let loading = try CommandSession(arguments, output)
    let progress = ProgressLine()
    let stopwatch = Stopwatch()
    let page = await LoadedPage(url) { url in
        await Fetch(URLRequest(url: url), with: loading.loader)
    } progress: { done, known in
        progress.show("loaded \(done) of \(known)")
    }
    let milliseconds = stopwatch.milliseconds
    progress.end()
    loading.end(output)

    let fetches = page.fetches
    // Offline they all fail for one reason, and the map at the end says which.
    for fetch in fetches where !arguments.has("offline") {
        guard case .failed(let reason) = fetch.source else { continue }
        output.message("\(fetch.url.absoluteString): \(reason.prefix { $0 != "\n" })")
    }
    if page.isCutShort { output.message("the page has more parts than \(LoadedPage.most): the rest was not loaded") }
    output.table(of: fetches)
    let totals = PageTotals(fetches, milliseconds: milliseconds)
    output.line("\n\(lines: totals.description)")

    let hasPage = fetches.first?.hasSucceeded ?? false
    if let file = arguments.value("save") {
        if hasPage {
            try Output.write(try SelfContainedPage.html(of: page), to: URL(fileURLWithPath: file))
        } else {
            output.message("\(url.absoluteString) can't be loaded, so nothing is saved")
        }
    }
    let left = arguments.has("save") && hasPage ? fetches.filter { !$0.hasSucceeded }.map(\.url.absoluteString) : []
    if !left.isEmpty { output.line("\nNot in the saved page:\n\(lines: left.joined(separator: "\n"))") }
    let missing = arguments.has("offline") ? missing(from: page) : SuggestedMap()
    if !missing.files.isEmpty { output.line("\nMissing, as a map:\n\(lines: missing.text)") }
    try output.json(
        PageRecord(parts: fetches.map { FetchRecord($0) }, totals: totals, notSaved: left, missing: missing.files)
    )
    return hasPage && totals.failed == 0 ? .done : .failed
}

/// Those that nothing local has answered.
private func missing(from page: LoadedPage) -> SuggestedMap {
    var map = SuggestedMap()
    for (number, part) in page.parts.enumerated() where part.fetch?.hasFailed ?? false {
        let type: String? =
            switch part.kind {
            case _ where number == 0: "text/html"
            case .styleSheet: "text/css"
            case .script: "text/javascript"
            case .other: nil
            }
        map.add(part.url, type: type)
    }
    return map
}

/// Where the parts of a page came from.
private struct PageTotals: Encodable, CustomStringConvertible {
    let substituted: Int
    let fromDefaultCache: Int
    let fromNetwork: Int
    let failed: Int
    /// Those of answers that came from files and the default cache.
    let bytesNotCarried: Int
    let milliseconds: Double

    init(_ fetches: [Fetch], milliseconds: Double) {
        let local = fetches.filter { $0.source != .network && !$0.hasFailed }
        fromDefaultCache = fetches.count { $0.source == .defaultCache }
        substituted = local.count - fromDefaultCache
        fromNetwork = fetches.count { $0.source == .network }
        failed = fetches.count { $0.hasFailed }
        bytesNotCarried = local.reduce(0) { $0 + $1.body.count }
        self.milliseconds = (milliseconds * 100).rounded() / 100
    }

    var description: String {
        "\(substituted) substituted, \(fromDefaultCache) from the default cache, \(fromNetwork) from the network, "
            + "\(failed) failed\n\(bytesNotCarried) bytes that the network did not carry, "
            + "in \(Output.format(milliseconds: milliseconds))"
    }
}

/// What `--json` says of a page.
private struct PageRecord: Encodable {
    let parts: [FetchRecord]
    let totals: PageTotals
    let notSaved: [String]
    /// File names by URL, as in a map.
    let missing: [String: String]
}
