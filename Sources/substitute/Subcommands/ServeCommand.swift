import Foundation
import LocalSubstitution
import LoopbackOrigin

let serveCommand = Subcommand(
    name: "serve",
    operands: "",
    summary: "answer on 127.0.0.1 as an origin, with the cache in place",
    details: """
        Answers http://127.0.0.1:PORT/path with what an attached URLSession gets for the
        same path and query of an origin: a base URL for what asks no URLCache, as
        browsers, WKWebView, AsyncHTTPClient and curl. GET and HEAD, with ranges;
        redirects are followed, and a failure is a 502 that says why. A changed map or
        file is served from the next request on, and substituted answers tell browsers
        to ask again each time. Cookies are the client's.

        Prints a line for each request. Ctrl-C ends it, with exit status 0; --json
        prints the totals then, and no lines.
        """,
    options: [
        Option(name: "origin", value: "URL", help: "scheme, host and port, as https://api.example.com"),
        Option(name: "port", value: "N", help: "the port to listen on; default: a free one"),
    ] + CommandSession.options,
    run: serve
)

private func serve(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "serve takes no operands: name the origin with --origin URL")
    }
    let origin = try origin(arguments)
    let port = try port(arguments)
    let loading = try CommandSession(arguments, output, isServer: true)
    let endSignal = await EndSignal()
    let gateway = Gateway(origin: origin, loading, output)
    let server: LoopbackServer
    do throws(LoopbackServer.StartError) {
        server = try LoopbackServer(port: port, recordsRequests: false, handler: gateway.answer)
    } catch {
        throw Failure(
            "can't listen on port \(port) of 127.0.0.1 (\(error)): choose another with --port, or leave it out"
        )
    }
    output.message("\(server.baseURL.absoluteString) answers for \(origin)/; Ctrl-C ends it")
    await endSignal.wait()
    server.stop()
    loading.end(output)

    let totals = gateway.totals
    output.message(
        """
        \(totals.requests == 1 ? "1 request" : "\(totals.requests) requests"): \(totals.substituted) substituted, \
        \(totals.fromNetwork) from the network, \(totals.failed) failed; \(totals.bytes) bytes sent
        """
    )
    try output.json(totals)
    return .done
}

/// Without a slash at its end.
private func origin(_ arguments: Arguments) throws(Failure) -> String {
    guard let text = arguments.value("origin") else {
        throw Failure(usage: "which origin? Name it with --origin, as --origin https://api.example.com")
    }
    let origin = text.hasSuffix("/") ? String(text.dropLast()) : text
    let scheme = ["http://", "https://"].first { origin.asciiLowercased.hasPrefix($0) } ?? ""
    let isBare = !origin.dropFirst(scheme.count).contains { "/?#@".contains($0) || $0.isWhitespace }
    guard !scheme.isEmpty, isBare, let url = URLText.url(origin), url.host?.isEmpty == false else {
        throw Failure(usage: "“\(text)” is no origin: write scheme, host and port alone, as https://api.example.com")
    }
    return origin
}

/// 0 for a free one.
private func port(_ arguments: Arguments) throws(Failure) -> UInt16 {
    guard let text = arguments.value("port") else { return 0 }
    guard let port = UInt16(text) else {
        throw Failure(usage: "“\(text)” is no port: write --port 8080, at most 65535")
    }
    return port
}
