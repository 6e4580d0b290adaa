import Foundation
import LocalSubstitution
import LocalSubstitutionServer

let serveCommand = Subcommand(
    name: "serve",
    operands: "",
    summary: "answer on 127.0.0.1 for browsers and other clients",
    details: """
        Answers for each origin that the map names on a port of 127.0.0.1: for
        browsers, web views, players, and clients with a base URL. Prints the ports:

          http://127.0.0.1:49152  https://www.example.com

        At a port, every path is answered as an attached URLSession would answer it at
        the origin, whatever the method. References to the origins are rewritten in HTML
        and CSS. A failure is a 502 that says why. A changed map or file is served from
        the next request on.

        Prints a line for each request, or a JSON object with --json. Ctrl-C ends it and
        prints the totals.
        """,
    options: [
        Option(
            name: "origin",
            value: "URL",
            help: "serve this origin instead; may be repeated",
            repeats: true
        ),
        Option(name: "port", value: "N", help: "the first origin's port, the next get N+1, …"),
        Option(name: "record", value: "DIR", help: "keep responses in DIR"),
        Option(name: "offline", value: nil, help: "let nothing reach the network"),
        Option(name: "json", value: nil, help: "print JSON, one object a line"),
    ],
    run: serve
)

private func serve(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "serve takes no operands: name an origin with --origin URL")
    }
    let firstPort = try port(arguments)
    let folder = arguments.value("record").map { URL(fileURLWithPath: $0, isDirectory: true) }
    let cache = try CommandSession.cache(arguments, output, recordsInto: folder, reloadsChanges: true)
    let recorder = try folder.map { try SubstitutionRecorder(folder: $0, limit: .max) }
    let log = ServeLog(cache, output)
    let endSignal = await EndSignal()
    let named = MapOrigins(cache.map).named
    let most = SubstitutionServer.mostOrigins
    let origins = arguments.has("origin") ? arguments.all("origin") : Array(named.prefix(most))
    guard !origins.isEmpty else {
        throw Failure("the map names no origin: name one with --origin, such as --origin https://api.example.com")
    }
    let ports = try ports(of: origins, from: firstPort)
    let server: SubstitutionServer
    do throws(SubstitutionServerError) {
        server = try SubstitutionServer(
            cache: cache,
            unmatched: arguments.has("offline") ? .fail : .load,
            recorder: recorder,
            ports: ports,
            log: log.add
        )
    } catch {
        throw error.kind == .invalidPorts ? Failure(usage: "\(error)") : Failure("\(error)")
    }
    for (local, origin) in server.served(in: origins) {
        output.line("\(local)  \(origin)")
        try output.jsonLine(["url": local, "origin": origin])
    }
    if !arguments.has("origin"), named.count > most { output.message("\(named.count - most) more origins get no port") }
    output.message("Ctrl-C ends it")
    await endSignal.wait()
    server.stop()
    recorder?.close()

    let totals = log.totals
    output.message(
        """
        \(totals.requests == 1 ? "1 request" : "\(totals.requests) requests"): \(totals.substituted) substituted, \
        \(totals.fromNetwork) from the network, \(totals.failed) failed; \(totals.bytes) bytes sent
        """
    )
    if let recorder { CommandSession.reportRecorded(by: cache, in: recorder, output) }
    try output.jsonLine(totals)
    return .done
}

/// Returns the ports for origins: consecutive ones, or 0 for free ones.
private func ports(of origins: [String], from first: UInt16) throws(Failure) -> [String: UInt16] {
    guard first == 0 || Int(first) + origins.count - 1 <= Int(UInt16.max) else {
        throw Failure(usage: "\(origins.count) origins need ports from \(first) on, but the last port is 65535")
    }
    let ports = origins.enumerated().map { ($1, first == 0 ? 0 : first + UInt16($0)) }
    return Dictionary(ports) { first, _ in first }
}

/// 0 for a free one.
private func port(_ arguments: Arguments) throws(Failure) -> UInt16 {
    guard let text = arguments.value("port") else { return 0 }
    guard let port = UInt16(text) else {
        throw Failure(usage: "“\(text)” isn't a port: use a number up to 65535, such as --port 8080")
    }
    return port
}
