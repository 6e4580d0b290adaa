import Foundation
import LocalSubstitution
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let getCommand = Subcommand(
    name: "get",
    operands: "URL…",
    summary: "load URLs through URLSession with the cache attached",
    details: """
        Loads each URL through a URLSession with a LocalSubstitutionCache attached.
        Prints where the response came from (substituted ← file, default cache or
        network), its status, MIME type, size and time. The exit status is 1 if a URL
        gets no response. An HTTP error is a response.

        --data, --header and --method work as in curl. Several --data are joined with &,
        and line breaks in a file are left out.

        With --cache-only, the cache is only set as urlCache. URLSession doesn't ask a
        cache about a POST, a request with Authorization, and some others.

        With --record, responses are saved in DIR as files and a map, and answer when
        the network fails. With --offline as well, only these and the map answer.

        With --parts, loads one page and everything that its HTML, CSS and modules load,
        frames included, six URLs at a time. Options for the request apply only to the
        page itself. Prints the totals and what is left out, such as URLs that scripts
        build. With --offline, also prints the missing parts as a map. The exit status
        is 1 if the page's response is an HTTP error or a part gets no response.

        Examples:

            substitute get https://example.com/logo.png
            substitute get --record saved --parts https://example.com/
            substitute get --record saved --parts --offline https://example.com/
        """,
    options: RequestOptions.all + CommandSession.options + [
        Option(name: "output", value: .file, help: "write the body to FILE (- for standard output)"),
        Option(name: "parts", value: nil, help: "load one page with its parts"),
    ],
    run: get
)

private func get(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let target = arguments.value("output")
    guard target == nil || requests.count == 1 else {
        throw Failure(usage: "--output writes one body. Leave out the other URLs.")
    }
    guard target != "-" || !output.printsJSON else {
        throw Failure(usage: "--output - and --json both write to standard output. Leave one out.")
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
            try Output.write(fetch.body, to: CurrentFolder.current.file(target))
        }
    }
    if target != "-" { output.table(of: fetches) }
    try output.json(fetches.map { FetchRecord($0) })
    return fetches.contains { $0.hasFailed } ? .failed : .done
}

/// Loads one page and its parts.
private func getParts(_ requests: [URLRequest], _ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard var request = requests.first, requests.count == 1 else {
        throw Failure(usage: "--parts loads one page. Leave out the other URLs.")
    }
    guard !arguments.has("output") else {
        throw Failure(usage: "--parts and --output don't work together. Leave one out.")
    }
    request.url = request.url.flatMap { URLText.resolve(Array($0.absoluteString.utf8), charset: nil, against: $0) }

    let loading = try CommandSession(arguments, output)
    let progress = ProgressLine()
    let stopwatch = Stopwatch()
    let page = await LoadedPage(request) { request in
        await Fetch(request, with: loading.loader)
    } progress: { done, known in
        progress.show("loaded \(done.grouped) of \(known.grouped)")
    }
    let milliseconds = stopwatch.milliseconds
    progress.end()
    loading.end(output)

    var reasons: Set<Substring> = []
    for fetch in page.fetches {
        guard case .failed(let text) = fetch.source else { continue }
        let reason = text.prefix { $0 != "\n" }
        // Offline, most parts fail for the same reason, and the map at the end lists them.
        guard reasons.insert(reason).inserted || !arguments.has("offline") else { continue }
        output.message("\(fetch.url.absoluteString): \(reason)")
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
            "\(reason) The entry “\(entry.key)” names the URL, but the cache alone can't answer: "
                + "\(explanation.reason). Leave out --cache-only to get \(attached)."
        )
    }
}
