import Dispatch
import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import MapWriting
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let getCommand = Subcommand(
    name: "get",
    operands: ["URL…"],
    summary: "load URLs through URLSession with the cache attached",
    details: """
        Loads each URL through a URLSession with a LocalSubstitutionCache attached.
        Prints where the response came from (substituted ← file, default cache or
        network), its status, MIME type, size and time. The exit status is 1 if a URL
        gets no response, or --record can't save one. An HTTP error is a response.

        --data, --header and --method work as in curl. Several --data are joined with &,
        and line breaks in a file are left out.

        With --cache-only, the cache is only set as urlCache. URLSession doesn't ask a
        cache about a POST, a request with Authorization, or some others.

        With --record, responses are saved in DIR as files and a map, and answer when
        the network fails. With --offline as well, only the saved responses and the map
        answer.

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
        .option("output", .file(), help: "write the body to FILE (- for standard output)"),
        .flag("parts", help: "load one page with its parts"),
    ],
    run: get
)

private func get(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
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
        var fetch = await loading.load(request)
        // With --offline, the reason already contains the whole explanation.
        if !loading.isOffline { fetch.addAdvice(from: loading.cache.explain(request), isAttached: loading.isAttached) }
        fetches.append(fetch)
    }
    loading.end(output)
    for fetch in fetches {
        if let reason = fetch.notRecorded { output.message("not recorded \(fetch.url.absoluteString): \(reason)") }
        if let reason = fetch.source.reason { output.message("\(fetch.url.absoluteString): \(lines: reason)") }
    }
    if let target, let fetch = fetches.first, !fetch.hasFailed {
        if target == "-" {
            output.bytes(fetch.body)
        } else {
            try Output.write(fetch.body, to: Shell.file(target))
        }
    }
    if target != "-" { output.table(of: fetches) }
    try output.json(fetches.map { $0.json() })
    return fetches.contains { $0.hasFailed || $0.notRecorded != nil } ? .failed : .done
}

/// Loads one page and its parts, and prints what answered each of them.
///
/// - Throws: A failure if there isn't exactly one request, or if `--output` is given. An error if the session can't be
///   created.
private func getParts(_ requests: [URLRequest], _ arguments: Arguments, _ output: Output) async throws
    -> Subcommand.ExitStatus
{
    guard var request = requests.first, requests.count == 1 else {
        throw Failure(usage: "--parts loads one page. Leave out the other URLs.")
    }
    guard !arguments.has("output") else {
        throw Failure(usage: "--parts and --output don't work together. Leave one out.")
    }
    request.url = request.url.flatMap { URLText.resolve(Array($0.absoluteString.utf8), charset: nil, against: $0) }

    let loading = try CommandSession(arguments, output)
    let progress = Output.Progress()
    let start = DispatchTime.now()
    let page = await LoadedPage(request, with: loading.loader) { done, known in
        progress.show("loaded \(done.grouped) of \(known.grouped)")
    }
    let totals = PageTotals(page.fetches, milliseconds: start.millisecondsAgo)
    progress.end()
    loading.end(output)

    let isOffline = arguments.has("offline")
    var reasons: Set<Substring> = []
    for fetch in page.fetches {
        guard let reason = fetch.source.reason?.prefix(while: { $0 != "\n" }) else { continue }
        // With --offline, many parts fail for the same reason. Print it once: the map at the end lists all these parts.
        guard reasons.insert(reason).inserted || !isOffline else { continue }
        output.message("\(fetch.url.absoluteString): \(reason)")
    }
    output.table(of: page.fetches)
    output.line(totals.text)
    let leftOut = page.leftOutLines
    if !leftOut.isEmpty { output.line("\nLeft out:\n\(lines: leftOut.joined(separator: "\n"))") }
    let missing = isOffline ? page.missingParts : [:]
    if !missing.isEmpty {
        output.line("\nTo add the missing parts, save their files under these names, and copy the entries into a map.")
        output.line("Missing, as a map:\n\(lines: JSONText.lines(missing.mapValues(JSONText.string)))")
    }
    try output.json([
        "parts": page.fetches.map { $0.json() }, "totals": totals, "leftOut": leftOut,
        // An object with entries, which can be copied into a map.
        "missing": missing,
    ])
    return (page.fetches.first?.hasSucceeded ?? false) && totals.failed == 0 ? .done : .failed
}

/// The session that loads the requests, and its cache and recorder.
private struct CommandSession: Sendable {
    /// The options that configure the session.
    static let options: [Subcommand.Option] = [
        .flag("cache-only", help: "don't attach the cache; only set it as urlCache"),
        .option("record", .folder, help: "save responses in DIR"),
        .flag("offline", help: "use the network only for forwardTo"),
        Loader.Limit.option,
    ]

    let loader: Loader
    let cache: LocalSubstitutionCache
    /// Whether the cache is attached to the session. `--cache-only` prevents that.
    let isAttached: Bool
    /// Whether only entries with `forwardTo` may use the network. `--offline` requires that.
    let isOffline: Bool
    /// The recorder of responses; `nil` without `--record`.
    private let recorder: SubstitutionRecorder?
    private let sources: Loader.Sources

    init(_ arguments: Arguments, _ output: Output) throws {
        isAttached = !arguments.has("cache-only")
        isOffline = arguments.has("offline")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Failure(usage: "--\(other) needs an attached session. Leave out --cache-only.")
        }
        let folder = arguments.value("record").map { Shell.file($0, isDirectory: true) }
        recorder = try folder.map { try output.recorder(in: $0) }
        cache = try MapChoice(arguments).cache(output, recordsInto: folder)
        let limit = try Loader.Limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // The recorder doesn't keep responses to requests with cookies. So the session sends no cookies.
        if recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: isOffline ? .fail : .load,
                responseRecorder: recorder,
                responseLimit: limit.bytes,
                isBrowsed: arguments.has("parts")
            )
        }
        let printsEvents = arguments.has("parts")
        sources = Loader.Sources(of: cache) { event in
            if printsEvents, event.kind == .notRecorded { output.message("\(event)") }
        }
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Loads a request. Don't load another at the same time.
    func load(_ request: URLRequest) async -> Fetch {
        var fetch = await loader.load(request)
        guard let recorder else { return fetch }
        // Whether the response is kept is decided here.
        recorder.writeBodies()
        fetch.notRecorded = sources.takeReasonNotRecorded()
        // No event is about a request that the recorder doesn't take.
        if fetch.source == .network { fetch.notRecorded = fetch.notRecorded ?? recorder.refusal(of: request) }
        return fetch
    }

    /// Ends the loads. With `--record`, also saves the recording, and reports how many responses were recorded.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        // With --offline, a response to record can only come through an entry's `forwardTo`. So report only if a
        // response was recorded.
        if !isOffline || cache.statistics.recorded > 0 { output.recorded(by: cache, in: recorder) }
    }
}

extension Output {
    /// Opens the folder that `--record` names. If the recorder can't write something, prints why, and the command
    /// fails.
    func recorder(in folder: URL) throws -> SubstitutionRecorder {
        let recorder = try SubstitutionRecorder(folder: folder, limit: .max)
        recorder.onProblem = { self.error("Not everything was recorded. \(lines: $0)") }
        recorder.onRecovery = { self.message("Responses are recorded again.") }
        return recorder
    }

    /// Prints how many responses a recorder added or changed, and the path of its map. Prints nothing after an error,
    /// since the map may lack these responses.
    func recorded(by cache: LocalSubstitutionCache, in recorder: SubstitutionRecorder) {
        guard !hasPrintedError else { return }
        let count = cache.statistics.recorded
        message("\(count.counted("response", "responses")) new or changed in \(recorder.mapFile.path)")
    }
}

/// The totals of a page's loads: how many of them each source answered, the bytes saved, and the duration.
private struct PageTotals: Encodable {
    let substituted: Int
    let confirmed: Int
    let fromDefaultCache: Int
    let fromNetwork: Int
    let failed: Int
    /// The number of body bytes in answers that didn't come from the network.
    let bytesNotCarried: Int
    let milliseconds: Double

    init(_ fetches: [Fetch], milliseconds: Double) {
        substituted = fetches.count(where: \.source.isSubstituted)
        confirmed = fetches.count { $0.source == .confirmed }
        fromDefaultCache = fetches.count { $0.source == .defaultCache }
        fromNetwork = fetches.count { $0.source == .network }
        failed = fetches.count(where: \.hasFailed)
        // A failed fetch isn't excluded here, since its body is empty.
        bytesNotCarried = fetches.reduce(0) { $0 + ($1.source == .network ? 0 : $1.body.count) }
        self.milliseconds = milliseconds.roundedToHundredths
    }

    var text: Output.Text {
        """

        \(substituted.grouped) substituted, \(confirmed > 0 ? "\(confirmed.grouped) confirmed, " : "")\
        \(fromDefaultCache.grouped) from the default cache, \(fromNetwork.grouped) from the network, \
        \(failed.grouped) failed
        \(Output.format(bytes: bytesNotCarried)) from files and the default cache, in \
        \(Output.format(milliseconds: milliseconds))
        """
    }
}

extension LoadedPage {
    /// Entries for the parts that couldn't be loaded. The keys are normalized URLs, and the values are the file names
    /// that a recorder would choose.
    fileprivate var missingParts: [String: String] {
        var files: [String: String] = [:]
        var names = RecordedFileName.InUse()
        for part in parts where part.fetch?.hasFailed ?? false {
            guard let url = try? NormalizedURL(part.url.absoluteString), files[url.canonical] == nil else { continue }
            let type: String? =
                switch part.kind {
                case .frame: "text/html"
                case .styleSheet: "text/css"
                case .script, .module: "text/javascript"
                case .other, .link: nil
                }
            files[url.canonical] = names.take(RecordedFileName(url, type: type))
        }
        return files
    }
}

extension Fetch {
    /// Adds advice to a failure's reason. If no entry answers the URL, adds the keys that almost match. If the cache
    /// isn't attached, adds which entry matches the URL, why the cache alone can't answer, and what an attached session
    /// would do.
    ///
    /// Does nothing if the load succeeded, or if the cache can answer with the entry.
    fileprivate mutating func addAdvice(from explanation: Explanation, isAttached: Bool) {
        guard let reason = source.reason else { return }
        guard let entry = explanation.winner else {
            source = .failed(reason + explanation.nearMisses.map { " (near miss: \($0))" }.joined())
            return
        }
        guard !isAttached, let attached = explanation.attached else { return }
        source = .failed(
            "\(reason) The entry “\(entry.key)” names the URL, but the cache alone can't answer: "
                + "\(explanation.reason). Leave out --cache-only to get \(attached)."
        )
    }
}
