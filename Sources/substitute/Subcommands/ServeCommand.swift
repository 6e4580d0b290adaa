#if !os(watchOS)
import Dispatch
import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionServer

let serveCommand = Subcommand(
    name: "serve",
    summary: "serve the map on 127.0.0.1, to browsers and other clients",
    details: """
        Serves each of the map's origins on a separate port of 127.0.0.1, for
        browsers, web views, players, and clients with a base URL. Prints the ports:

            http://127.0.0.1:49152  https://www.example.com

        Responds to requests of any path and method as an attached URLSession would at
        the origin. Rewrites references to the origins in HTML and CSS. If a
        request fails, the client gets a 502 that says why. If an entry's error makes
        it fail, only pages that someone opens get the 502; other requests fail, too.
        Changes to the map and its files apply from the next request on. If the changed
        map has problems, prints them, and the last good map stays in use.

        Prints a line for each request, or a JSON object with --json. Press Ctrl-C to
        stop the server and print the totals and, with --record, what wasn't recorded
        and why.
        """,
    options: [
        .option("origin", "URL", help: "serve this origin (repeatable); others on demand", repeats: true),
        .option("port", "N", help: "the first origin's port; the next ones are N+1, …"),
        .option("record", .folder, help: "save responses in DIR"),
        .flag("offline", help: "use the network only for forwardTo"),
        .flag("json", help: "print JSON, one object per line"),
    ],
    run: serve
)

private func serve(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Complaint(usage: "serve takes only options. Name an origin with --origin URL.")
    }
    let advice = "Use a number up to 65535, such as --port 8080."
    // Without the option, the system chooses free ports.
    let firstPort = try arguments.all("port", as: "a port", advice) { UInt16($0) }.last ?? 0
    let folder = arguments.value("record").map { Shell.file($0, isDirectory: true) }
    if let origin = arguments.all("origin").first(where: { !$0.contains("://") }) { throw incomplete(origin) }
    let choice = MapChoice(arguments)
    let cache = try choice.cache(output, recordsInto: folder, reloadsChanges: true)
    cache.hearReloads { event in
        guard event.kind == .mapNotReloaded else { return output.message("\(event)") }
        output.message("The map has problems, so the last good map stays in use:\n\(lines: event.reason ?? "")")
    }
    let log = ServeLog(cache, output)
    let endSignal = await EndSignal()
    let named = MapOrigins(cache.map).namedPageFirst
    let most = SubstitutionServer.mostOrigins
    let origins = arguments.has("origin") ? arguments.all("origin") : Array(named.prefix(most))
    guard !origins.isEmpty else {
        throw choice.exists
            ? Complaint("The map doesn't name an origin. Name one, such as --origin https://api.example.com.")
            : Complaint("\(choice.missing) Or serve an origin without a map, with --origin URL.")
    }
    let ports = try ports(of: origins, from: firstPort)
    let (server, recorder): (SubstitutionServer, SubstitutionRecorder?)
    // Offline, a recorded response is reported like an entry's.
    let notRecorded = Guarded(NotRecorded(besides: arguments.has("offline") ? nil : choice.file))
    do {
        // A recorder writes into its folder at once. So first check whether the server can start.
        try SubstitutionServer.check(ports: ports)
        recorder = try folder.map { try output.recorder(in: $0) }
        if recorder != nil { cache.hear { event in notRecorded.withLock { $0.add(event) } } }
        server = try SubstitutionServer(
            cache: cache,
            unmatched: arguments.has("offline") ? .fail : .load,
            recorder: recorder,
            ports: ports,
            log: log.add
        )
    } catch let error as SubstitutionServerError {
        throw error.kind == .invalidPorts ? Complaint(usage: "\(error)") : Complaint("\(error)")
    }
    for (local, origin) in server.served(in: origins) {
        output.line("\(local)  \(origin)")
        try output.json(["url": local, "origin": origin], onOneLine: true)
    }
    if !arguments.has("origin"), named.count > most {
        let more = (named.count - most).counted("more origin of the map isn't", "more origins of the map aren't")
        output.message("\(more) served. Choose origins with --origin.")
    }
    output.message("Press Ctrl-C to stop.")
    await endSignal.wait()
    server.stop()
    recorder?.close()

    log.finish {
        var totals = log.totals
        totals.notRecorded = recorder.map { recorder in notRecorded.withLock { $0.groups(of: recorder) } }
        let confirmed = totals.confirmed > 0 ? "\(totals.confirmed.grouped) confirmed, " : ""
        output.message(
            """
            \(totals.requests.counted("request", "requests")): \(totals.matched.grouped) matched, \
            \(confirmed)\(totals.fromNetwork.grouped) from the network, \(totals.failed.grouped) failed; \
            \(totals.bytes.counted("byte", "bytes")) sent
            """
        )
        if log.leftOut > 0 {
            let left = log.leftOut.counted("request wasn't", "requests weren't")
            output.message("\(left) printed, since nothing read the output. Redirect it to a file to see all of them.")
        }
        for group in totals.notRecorded ?? [] { output.message(group.text()) }
        if let recorder { output.recorded(in: recorder) }
        try? output.json(totals, onOneLine: true)
    }
    return .done
}

/// Returns the failure for an origin without a scheme, or without `//` after it.
private func incomplete(_ origin: String) -> Complaint {
    let scheme = ["http", "https"].first { origin.lowercased().hasPrefix("\($0):") }
    let rest = origin.dropFirst(scheme.map { $0.count + 1 } ?? 0).drop { $0 == "/" }
    guard let scheme else {
        return Complaint(usage: "The origin “\(origin)” has no scheme. Write http://\(rest) or https://\(rest).")
    }
    return Complaint(usage: "The origin “\(origin)” has no // after its scheme. Write \(scheme)://\(rest).")
}

/// Returns a port for each origin. The first origin gets the first port, the second the next one, and so on. If the
/// first port is 0, all ports are 0, and the system chooses free ones.
///
/// - Throws: A failure if the ports would exceed 65535.
private func ports(of origins: [String], from first: UInt16) throws(Complaint) -> [String: UInt16] {
    guard first == 0 || Int(first) + origins.count - 1 <= Int(UInt16.max) else {
        throw Complaint(
            usage:
                "--port \(first) leaves too few ports for \(origins.count) origins, since the last port is 65535. "
                + "Use a lower port."
        )
    }
    let ports = origins.enumerated().map { ($1, first == 0 ? 0 : first + UInt16($0)) }
    return Dictionary(ports) { first, _ in first }
}

/// The log of a server. It prints each request to the server, and counts them.
private final class ServeLog: Sendable {
    struct Totals: Sendable, Encodable {
        var requests = 0
        var matched = 0
        var confirmed = 0
        var fromNetwork = 0
        var failed = 0
        var bytes = 0
        /// `nil` without a recorder.
        var notRecorded: [NotRecorded.Group]?

        mutating func add(_ request: SubstitutionServer.LoggedRequest) {
            requests += 1
            bytes += request.bytes
            switch request.source {
            case .matched: matched += 1
            case .confirmed: confirmed += 1
            case .network: fromNetwork += 1
            case .failed: failed += 1
            }
        }
    }

    private let cache: LocalSubstitutionCache
    private let output: Output
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "ServeLog")
    private let places = DispatchSemaphore(value: 1_000)

    private struct State: Sendable {
        var totals = Totals()
        var waiting: [(request: SubstitutionServer.LoggedRequest, source: Fetch.Source)] = []
        var isPrinting = false
        /// Whether nothing seems to read the output.
        var isUnread = false
        /// The numbers of requests that were printed and left out.
        var (printed, leftOut) = (0, 0)

        /// Adds a request to print. Returns whether printing must start.
        mutating func enqueue(_ request: SubstitutionServer.LoggedRequest, _ source: Fetch.Source) -> Bool {
            isUnread = false
            waiting.append((request, source))
            defer { isPrinting = true }
            return !isPrinting
        }
    }

    init(_ cache: LocalSubstitutionCache, _ output: Output) {
        self.cache = cache
        self.output = output
    }

    var totals: Totals { state.withLock { $0.totals } }

    /// Counts a request, and prints its line on another thread, so that the server doesn't wait for a reader of its
    /// output. The line may appear after the client has the response. If 1,000 requests are waiting, waits at most a
    /// second for a slow reader, and then leaves lines out until the output is read again.
    func add(_ request: SubstitutionServer.LoggedRequest) {
        let source: Fetch.Source =
            switch request.source {
            case .matched: .matched(file: request.response.flatMap { Loader.Sources.file(of: $0, by: cache) })
            case .confirmed: .confirmed
            case .network: .network
            case .failed(let reason): .failed(reason)
            }
        // Normally, there's a place at once.
        let hasPlace = places.wait(timeout: .now()) == .success
        var (starts, isUnread) = state.withLock { state in
            state.totals.add(request)
            let isUnread = state.isUnread
            return (hasPlace && state.enqueue(request, source), isUnread)
        }
        if !hasPlace {
            isUnread = isUnread || places.wait(timeout: .now() + 1) == .timedOut
            starts = state.withLock { state in
                if !isUnread { return state.enqueue(request, source) }
                (state.isUnread, state.leftOut) = (true, state.leftOut + 1)
                return false
            }
        }
        if starts { queue.async { self.print() } }
    }

    var leftOut: Int { state.withLock { $0.leftOut } }

    /// Prints the waiting requests, and those that arrive meanwhile.
    private func print() {
        while true {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.isPrinting = !state.waiting.isEmpty
                return state.waiting
            }
            if waiting.isEmpty { return }
            for (request, source) in waiting {
                print(request, source)
                state.withLock { $0.printed += 1 }
                places.signal()
            }
        }
    }

    private func print(_ request: SubstitutionServer.LoggedRequest, _ source: Fetch.Source) {
        let milliseconds = request.seconds * 1_000
        guard !output.printsJSON else {
            try? output.json(
                [
                    "method": request.method, "url": request.url, "status": request.status, "source": source.name,
                    "file": source.file, "bytes": request.bytes, "milliseconds": milliseconds.roundedToHundredths,
                    "error": source.reason, "warning": request.warning,
                ],
                onOneLine: true
            )
            return
        }
        let status = request.status.map { String($0) } ?? "—"
        let reason = (source.reason ?? request.warning).map { ": \($0.prefix { $0 != "\n" })" } ?? ""
        output.line(
            """
            \(request.method) \(request.url)  \(status)  \(source, source.color)\(reason)  \
            \(Output.format(bytes: request.bytes))  \(Output.format(milliseconds: milliseconds))
            """
        )
    }

    /// Prints the last lines, after those of the requests. Gives up if nothing reads the output.
    func finish(_ lines: @escaping @Sendable () -> Void) {
        let end = DispatchGroup()
        queue.async(group: end) { self.print() }
        var (last, isRead) = (-1, true)
        while isRead, end.wait(timeout: .now() + 1) == .timedOut {
            let now = state.withLock { $0.printed }
            (last, isRead) = (now, now > last)
        }
        // Not on a global queue: with one processor, that may have only this thread.
        DispatchQueue(label: "ServeLog.finish").async(group: end, execute: lines)
        // What a slow reader hasn't read yet may fill a pipe.
        _ = end.wait(timeout: .now() + (isRead ? 10 : 1))
    }
}

/// A listener for the signals that Ctrl-C, `kill` and a closed terminal send (`SIGINT`, `SIGTERM` and `SIGHUP`). From its
/// creation on, these signals don't end the process.
private struct EndSignal {
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Void>

    /// Starts to listen. Returns only after the system has registered the sources of all signals: an earlier signal
    /// would be lost.
    init() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Ignore the signal before registering the source. On Linux, the registration sets an action for the
            // signal, and a later SIG_IGN would replace that action.
            let action = signal(number, SIG_IGN)
            // `nohup` ignores a closed terminal.
            if number == SIGHUP, unsafeBitCast(action, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                continue
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler { continuation.yield() }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Waits for a signal, then stops listening. Returns at once if a signal has already arrived.
    func wait() async {
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
#endif
