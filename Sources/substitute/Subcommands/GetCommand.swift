import Foundation
import LocalSubstitution
import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let getCommand = Subcommand(
    name: "get",
    operands: ["URL…"],
    summary: "load URLs through URLSession with the cache attached",
    details: """
        Loads each URL through a URLSession with a LocalSubstitutionCache attached.
        Prints where the response came from (matched ← file, default cache or
        network), its status, MIME type, size and time. The exit status is 1 if a URL
        gets no response, or --record can't save one. An HTTP error is a response.

        --data, --header and --method work as in curl. Several --data are joined with &,
        and line breaks in a file are left out.

        With --cache-only, the cache is only set as urlCache. For some requests, such as
        a POST or one with Authorization, URLSession doesn't ask this cache.

        With --record, responses are saved in DIR as files and a map. A saved response
        is returned when the network fails. With --offline as well, the network isn't
        used, except for forwardTo.

        To record a page with everything that it loads, use serve --record and open the
        page in a browser.

        Examples:

            substitute get https://example.com/logo.png
            substitute get --record saved https://example.com/
            substitute get --record saved --offline https://example.com/
        """,
    options: RequestOptions.all + CommandSession.options + [
        .option("output", .file(), help: "write the body to FILE (- for standard output)")
    ],
    removedOptions: [
        "parts": "To record a page, use serve --record with a browser, or get --record with the URLs of its files."
    ],
    run: get
)

private func get(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let target = arguments.value("output")
    guard target == nil || requests.count == 1 else {
        throw Complaint(usage: "--output writes one body. Leave out the other URLs.")
    }
    guard target != "-" || !output.printsJSON else {
        throw Complaint(usage: "--output - and --json both write to standard output. Leave one out.")
    }

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

/// The session that loads the requests, and its cache and recorder.
private struct CommandSession: Sendable {
    static let options: [Subcommand.Option] = [
        .flag("cache-only", help: "don't attach the cache; only set it as urlCache"),
        .option("record", .folder, help: "save responses in DIR"),
        .flag("offline", help: "use the network only for forwardTo"),
        Loader.Limit.option,
    ]

    let cache: LocalSubstitutionCache
    /// Whether the cache is attached to the session. `--cache-only` prevents that.
    let isAttached: Bool
    /// Whether only entries with `forwardTo` may use the network. `--offline` requires that.
    let isOffline: Bool
    private let loader: Loader
    /// `nil` without `--record`.
    private let recorder: SubstitutionRecorder?
    private let sources: Loader.Sources

    init(_ arguments: Arguments, _ output: Output) throws {
        isAttached = !arguments.has("cache-only")
        isOffline = arguments.has("offline")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Complaint(usage: "--\(other) needs an attached session. Leave out --cache-only.")
        }
        let folder = arguments.value("record").map { Shell.file($0, isDirectory: true) }
        recorder = try folder.map { try output.recorder(in: $0) }
        cache = try MapChoice(arguments).cache(output, recordsInto: folder)
        let limit = try Loader.Limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // Responses to requests with cookies aren't recorded. So the session sends no cookies.
        if recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: isOffline ? .fail : .load,
                responseRecorder: recorder,
                responseLimit: limit.bytes
            )
        }
        sources = Loader.Sources(of: cache)
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Loads a request. Don't load another at the same time.
    func load(_ request: URLRequest) async -> Fetch {
        var fetch = await loader.load(request)
        guard let recorder else { return fetch }
        // Whether the response is recorded is decided here.
        recorder.writeBodies()
        fetch.notRecorded = sources.takeReasonNotRecorded()
        // No event is about a request for which the recorder isn't used.
        if fetch.source == .network { fetch.notRecorded = fetch.notRecorded ?? recorder.refusal(of: request)?.fragment }
        return fetch
    }

    /// Ends the loads. With `--record`, also saves the recording, and reports how many responses were recorded.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        // With --offline, a response to record can only come through an entry's `forwardTo`. So report only if a
        // response was recorded.
        if !isOffline || recorder.newOrChanged > 0 { output.recorded(in: recorder) }
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
    func recorded(in recorder: SubstitutionRecorder) {
        guard !hasPrintedError else { return }
        let count = recorder.newOrChanged
        message("\(count.counted("response", "responses")) new or changed in \(recorder.mapFile.path)")
    }
}

extension Fetch {
    /// Adds advice to a failure's reason. If no entry matches the URL, adds the keys that almost match. If the cache isn't
    /// attached, adds which entry matches the URL, why it doesn't respond cache only, and what an attached session gets.
    ///
    /// Does nothing if the load succeeded, or if an attached session gets no more.
    fileprivate mutating func addAdvice(from explanation: Explanation, isAttached: Bool) {
        guard let reason = source.reason else { return }
        guard let entry = explanation.winner else {
            source = .failed(reason + explanation.nearMisses.map { " (near miss: \($0))" }.joined())
            return
        }
        guard !isAttached, let server = explanation.attached.servedBy,
            explanation.attached.outcome != explanation.cacheOnly.outcome
        else { return }
        source = .failed(
            "\(reason) The entry “\(entry.key)” matches the URL, but doesn't respond with --cache-only: "
                + "\(explanation.cacheOnly.reason). Leave out --cache-only to get \(server)."
        )
    }
}
