import Dispatch
import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers requests on 127.0.0.1 with what a URLSession with the cache gets for the same path of an origin.
final class Gateway: Sendable {
    struct Totals: Sendable, Encodable {
        var requests = 0
        var substituted = 0
        var fromNetwork = 0
        var failed = 0
        var bytes = 0
    }

    private let origin: String
    private let loading: CommandSession
    private let output: Output
    private let counted = Guarded(Totals())

    /// - Parameter origin: Scheme, host and port, without a slash at the end.
    init(origin: String, _ loading: CommandSession, _ output: Output) {
        self.origin = origin
        self.loading = loading
        self.output = output
    }

    var totals: Totals { counted.withLock { $0 } }

    /// Answers one request, on the thread of its connection, and prints a line about it.
    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard request.method == "GET" || request.method == "HEAD" else {
            return refuse(request, 405, "only GET and HEAD are served", [("Allow", "GET, HEAD")])
        }
        // A page of another site, whose name somebody has let point here, must not read what the origin says.
        guard Self.isLocal(request.header("Host")) else {
            return refuse(
                request,
                421,
                "the request is for the host “\(request.header("Host") ?? "")”, which is not served",
                []
            )
        }
        let target = request.query.map { "\(request.path)?\($0)" } ?? request.path
        guard target.hasPrefix("/"), let url = URLText.url(origin + target) else {
            return refuse(request, 400, "that is no path", [])
        }
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method
        for header in ServedHeaders.requested(request) { asked.addValue(header.value, forHTTPHeaderField: header.name) }

        let stopwatch = Stopwatch()
        let result = load(asked)
        let fetch = Fetch(asked, result, milliseconds: stopwatch.milliseconds)
        let answer = Self.answer(with: fetch, to: request)
        log(request, answer, fetch)
        return answer
    }

    /// Returns what a URLSession would get. Skips the session for the cache's own answers, since it takes most of the time: the
    /// loader would accept them, because the cache withholds any that it would refuse (`LoaderRules`).
    private func load(_ request: URLRequest) -> Result<Loader.Answer, URLError> {
        if let local = loading.localAnswer(to: request) { return .success(local) }
        let result = Guarded<Result<Loader.Answer, URLError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        loading.loader.load(request) { loaded in
            result.withLock { $0 = loaded }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 } ?? .failure(URLError(.unknown))
    }

    private static func isLocal(_ host: String?) -> Bool {
        guard let host else { return true }
        return ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
    }

    private static func answer(
        with fetch: Fetch,
        to request: LoopbackServer.Request
    ) -> LoopbackServer.Answer {
        guard let response = fetch.response else {
            let reason = if case .failed(let reason) = fetch.source { reason } else { "no HTTP answer" }
            return text(502, "\(fetch.url.absoluteString): \(reason)")
        }
        let isSubstituted = if case .substituted = fetch.source { true } else { false }
        var headers = ServedHeaders.answered(response, isSubstituted: isSubstituted)
        let length = headers.first { $0.0.isSameHeader(as: "Content-Length") }
        if request.method != "HEAD" {
            // The length of what is sent, which the server knows best.
            headers.removeAll { $0.0.isSameHeader(as: "Content-Length") }
        }
        return LoopbackServer.Answer(
            status: response.statusCode,
            headers: headers,
            body: fetch.body,
            // An answer to HEAD that does not know the length must not say that it is 0.
            chunked: request.method == "HEAD" && length == nil
        )
    }

    private func refuse(
        _ request: LoopbackServer.Request,
        _ status: Int,
        _ reason: String,
        _ headers: [(String, String)]
    ) -> LoopbackServer.Answer {
        counted.withLock {
            $0.requests += 1
            $0.failed += 1
        }
        output.line("\(request.method) \(request.target)  \(status)  \("failed", .red): \(reason)")
        var answer = Self.text(status, reason)
        answer.headers += headers
        return answer
    }

    private static func text(_ status: Int, _ text: String) -> LoopbackServer.Answer {
        var answer = LoopbackServer.Answer.text("substitute serve: \(text)\n")
        answer.status = status
        return answer
    }

    private func log(_ request: LoopbackServer.Request, _ answer: LoopbackServer.Answer, _ fetch: Fetch) {
        counted.withLock {
            $0.requests += 1
            switch fetch.source {
            case .substituted: $0.substituted += 1
            case .network, .defaultCache: $0.fromNetwork += 1
            case .failed: $0.failed += 1
            }
            $0.bytes += request.method == "HEAD" ? 0 : answer.body.count
        }
        let source: PrintedText =
            switch fetch.source {
            case .substituted: "\(fetch.source, .green)"
            case .failed(let reason): "\("failed", .red): \(reason.prefix { $0 != "\n" })"
            case .network, .defaultCache: "\(fetch.source)"
            }
        output.line(
            """
            \(request.method) \(request.target)  \(answer.status)  \(source)  \(Output.format(bytes: fetch.body.count))  \
            \(Output.format(milliseconds: fetch.milliseconds))
            """
        )
    }
}
