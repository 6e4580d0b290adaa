import Foundation
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let getCommand = Subcommand(
    name: "get",
    operands: "URL…",
    summary: "load URLs through URLSession with the cache in place",
    details: """
        Loads each URL through a URLSession to which a LocalSubstitutionCache is
        attached, and prints where the answer came from (substituted ← file, default
        cache or network), its status, MIME type, size and time. An HTTP error is an
        answer. --data, --header and --method make requests as curl does: several --data
        are joined with &, and line breaks of a file are left out.

        With --cache-only the session only has the cache, which isn't asked about
        requests with Authorization, a POST and others. With --record the responses
        become files and a map in DIR, which answer when the network fails; with
        --offline as well, only they and the map do.

        With --parts it loads one page and what its HTML, CSS and modules load, frames
        included, six at a time. The request's options are for the page itself. It
        prints the totals and what is left out, such as what scripts load; with
        --offline, what is missing is printed as a map. Exit status 1 if the page gets
        an HTTP error or a part gets no answer.
        """,
    options: RequestOptions.all + CommandSession.options + [
        Option(name: "output", value: "FILE", help: "write the body to FILE; - is standard output"),
        Option(name: "parts", value: nil, help: "load a page with its parts"),
    ],
    run: get
)

private func get(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let target = arguments.value("output")
    guard target == nil || requests.count == 1 else { throw Failure(usage: "--output takes one URL") }
    guard target != "-" || !output.printsJSON else {
        throw Failure(usage: "--output - and --json both need standard output")
    }
    if arguments.has("parts") { return try await getParts(requests, arguments, output) }

    let loading = try CommandSession(arguments, output)
    var fetches: [Fetch] = []
    for request in requests {
        var fetch = await Fetch(request, with: loading.loader)
        if !loading.isAttached { fetch.addAdvice(from: loading.cache.explain(request)) }
        fetches.append(fetch)
    }
    loading.end(output)
    for case let fetch in fetches {
        if case .failed(let reason) = fetch.source { output.message("\(fetch.url.absoluteString): \(lines: reason)") }
    }
    if let target, let fetch = fetches.first, !fetch.hasFailed {
        if target == "-" {
            output.bytes(fetch.body)
        } else {
            try Output.write(fetch.body, to: URL(fileURLWithPath: target))
        }
    }
    if target != "-" { output.table(of: fetches) }
    try output.json(fetches.map { FetchRecord($0) })
    return fetches.contains { $0.hasFailed } ? .failed : .done
}

/// Loads one page and its parts.
private func getParts(_ requests: [URLRequest], _ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard var request = requests.first, requests.count == 1 else { throw Failure(usage: "--parts takes one URL") }
    guard !arguments.has("output") else { throw Failure(usage: "--parts and --output don't go together") }
    request.url = request.url.flatMap { URLText.resolve(Array($0.absoluteString.utf8), charset: nil, against: $0) }

    let loading = try CommandSession(arguments, output)
    let progress = ProgressLine()
    let stopwatch = Stopwatch()
    let page = await LoadedPage(request) { request in
        await Fetch(request, with: loading.loader)
    } progress: { done, known in
        progress.show("loaded \(done) of \(known)")
    }
    let milliseconds = stopwatch.milliseconds
    progress.end()
    loading.end(output)

    // Offline, all of them fail for the same reason, and the map at the end lists them.
    for fetch in page.fetches where !arguments.has("offline") {
        guard case .failed(let reason) = fetch.source else { continue }
        output.message("\(fetch.url.absoluteString): \(reason.prefix { $0 != "\n" })")
    }
    output.table(of: page.fetches)
    let report = PageReport(page, milliseconds: milliseconds, suggestsEntries: arguments.has("offline"))
    report.print(to: output)
    try output.json(report)
    return (page.fetches.first?.hasSucceeded ?? false) && report.totals.failed == 0 ? .done : .failed
}

extension Fetch {
    /// Adds to a failure's reason which entry names the URL, why the cache can't answer, and that an attached session would.
    fileprivate mutating func addAdvice(from explanation: Explanation) {
        guard case .failed(let reason) = source, let entry = explanation.winner, let attached = explanation.attached
        else {
            return
        }
        source = .failed(
            "\(reason). The entry “\(entry.key)” names it, but the cache can't answer: \(explanation.reason). "
                + "Without --cache-only, it's served by \(attached)."
        )
    }
}
