import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute serve --record says what it didn't keep", .sessions, .timeLimit(.minutes(5)))
struct ServeRecordTests {
    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer { Self.answer(to: $0) }
    }

    private static func answer(to request: LoopbackServer.Request) -> LoopbackServer.Answer {
        switch request.path {
        case "/video.mp4", "/whole.mp4":
            guard let range = request.header("Range") else { return .ok(Data("0123456789".utf8), type: "video/mp4") }
            let isWhole = range == "bytes=0-" && request.path == "/whole.mp4"
            return LoopbackServer.Answer(
                status: 206,
                headers: [
                    ("Content-Type", "video/mp4"), ("Content-Range", isWhole ? "bytes 0-9/10" : "bytes 2-4/10"),
                ],
                body: Data((isWhole ? "0123456789" : "234").utf8)
            )
        case "/203", "/300", "/401", "/403", "/418", "/500", "/503":
            return LoopbackServer.Answer(status: Int(request.path.dropFirst()) ?? 0, body: Data("x".utf8))
        case "/cut":
            return .text("data: a\n\ndata: b\n\n", type: "text/event-stream").failing(.dropAfter(bodyBytes: 9))
        case "/304": return .status(304)
        case let path where path.hasPrefix("/part/"):
            return LoopbackServer.Answer(status: 206, headers: [("Content-Range", "bytes 0-0/2")], body: Data("x".utf8))
        case "/part", "/any":
            let answer = LoopbackServer.Answer.text(request.header("HX-Request") ?? "whole")
            let vary = request.path == "/any" ? "*" : "HX-Request, Accept-Encoding"
            return LoopbackServer.Answer(headers: answer.headers + [("Vary", vary)], body: answer.body)
        default: return .text("ok")
        }
    }

    private func request(_ target: String, to server: ServerProcess, method: String = "GET", _ field: String = "A: b")
        throws
    {
        let text =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = try RawClient.exchange(text, with: UInt16(try #require(server.baseURL.port)))
    }

    @Test("One line for each reason has the count and URLs, also with --json", arguments: [false, true])
    func reasons(isJSON: Bool) async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        let words = ["--origin", base, "--record", "Kept it"] + (isJSON ? ["--json"] : [])
        let server = try await ServerProcess(in: folder, words)
        let statuses = ["/203", "/300", "/401", "/403", "/418", "/500", "/500", "/503"]
        for path in ["/ok"] + statuses + ["/ok?token=a", "/ok?token=b"] {
            try request(path, to: server)
        }
        // The server resets this connection, too.
        try? request("/cut", to: server)
        try request("/304", to: server, "If-None-Match: \"1\"")
        for method in ["POST", "PUT", "HEAD", "PATCH", "DELETE"] { try request("/a", to: server, method: method) }
        try request("/b", to: server, "Authorization: Basic eDp5")
        for _ in 0..<2 { try request("/video.mp4", to: server, "Range: bytes=2-4") }
        // A part doesn't matter if the whole file is recorded before or after it.
        for range in ["2-4", "0-", "2-4"] { try request("/whole.mp4", to: server, "Range: bytes=\(range)") }
        let outcome = try await server.end()

        let at = { (paths: [String]) in paths.map { base + $0 } }
        let shown = ["500", "203", "300", "304", "401"]
        let methods = ["DELETE", "HEAD", "PATCH", "POST", "PUT"]
        let token = "/ok?token=redacted"
        let expected: [(count: Int, reason: String, urls: [String], values: [String]?, more: Int)] = [
            (2, "the response is only a part of the file (status 206)", at(["/video.mp4"]), nil, 0),
            (9, "the status isn't recorded", at(shown.map { "/" + $0 }), shown, 3),
            (5, "only the method GET is recorded", at(methods.map { _ in "/a" }), methods, 0),
            (2, "the URL's parameter “token” may be a credential", at([token, token]), nil, 0),
            (1, "the request has the header “Authorization”", at(["/b"]), nil, 0),
            (1, "the response was cut off, or the client didn't wait for its end", at(["/cut"]), nil, 0),
        ]
        let lines = outcome.messages.components(separatedBy: "\n").filter { $0.contains("not recorded") }
        #expect(lines.count == expected.count, "\(outcome.messages)")
        let command = "get --record 'Kept it' \(base)/video.mp4"
        for (count, reason, urls, values, more) in expected {
            let start = "substitute: not recorded \(count == 1 ? "once" : "\(count) times"): \(reason)"
            let line = try #require(lines.first { $0.hasPrefix(start) }, "\(reason)")
            if reason.contains("206") {
                #expect(line.hasPrefix(start + ". To record whole files: ") && line.hasSuffix(command), "\(line)")
            } else {
                let examples = (values.map { zip($0, urls).map { "\($0) \($1)" } } ?? urls).prefix(4)
                let others = urls.count + more - examples.count
                let rest = others > 0 ? " and \(others) more" : ""
                #expect(line == "\(start): \(examples.joined(separator: " "))\(rest)")
            }
        }
        #expect(outcome.messages.contains("2 responses new or changed in "))

        struct Totals: Decodable {
            struct Group: Decodable {
                let reason: String
                let count: Int
                let urls: [String]
                let values: [String]?
                let more: Int
                let command: String?
            }

            let notRecorded: [Group]
        }
        guard isJSON else { return }
        let totals = try JSONDecoder().decode(Totals.self, from: Data(#require(outcome.lines.dropLast().last).utf8))
        for (count, reason, urls, values, more) in expected {
            let group = try #require(totals.notRecorded.first { $0.reason == reason })
            #expect(group.count == count && group.urls == urls && group.values == values && group.more == more)
            #expect(group.command?.hasSuffix(command) == (reason.contains("206") ? true : nil))
        }
    }

    @Test("A line that leaves URLs out says how many", arguments: [1, 5, 6, 8])
    func more(count: Int) async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        let server = try await ServerProcess(in: folder, ["--origin", base, "--record", "Kept"])
        for number in 1...count {
            try request("/500?\(number)", to: server)
            try request("/part/\(number)", to: server, "Range: bytes=0-0")
        }
        let times = count == 1 ? "once" : "\(count) times"
        let lines = try await server.end().messages.components(separatedBy: "\n").filter { $0.contains("not recorded") }
        let failed = (1...min(count, 4)).map { "500 \(base)/500?\($0)" }.joined(separator: " ")
        let others = count > 4 ? " and \(count - 4) more" : ""
        let status = "not recorded \(times): the status isn't recorded: \(failed)\(others)"
        #expect(lines.contains("substitute: \(status)"), "\(lines)")
        let some = count > 5 ? "5 of the \(count) files whole" : "whole files"
        let parts = (1...min(count, 5)).map { "\(base)/part/\($0)" }.joined(separator: " ")
        #expect(
            lines.contains { $0.contains(". To record \(some): ") && $0.hasSuffix("get --record Kept \(parts)") },
            "\(lines)"
        )
    }

    @Test("Representations are kept, and a line says if they can't be told apart")
    func representations() async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        let server = try await ServerProcess(in: folder, ["--origin", base, "--record", "Kept"])
        for path in ["/part", "/any"] {
            for field in ["A: b", "HX-Request: true"] { try request(path, to: server, field) }
        }
        let lines = try await server.end().messages.components(separatedBy: "\n").filter { $0.contains("not recorded") }
        let reason =
            "only the last of several responses is recorded, since a map can't compare everything that “Vary” lists"
        #expect(lines == ["substitute: not recorded once: \(reason): \(base)/any"])
        let replies = [
            ("/part", "HX-Request: true", "true"), ("/part", "HX-Request: 1", "whole"), ("/part", "A: b", "whole"),
            ("/any", "A: b", "true"),
        ]
        for (path, field, body) in replies {
            let words = ["get", "--map", "Kept/substitutions.json", "--output", "-", "--header", field, base + path]
            #expect(try await folder.substitute(words).output == body)
        }
    }

    @Test("Representations beyond 16 are named, and not counted as recorded")
    func manyRepresentations() async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        let server = try await ServerProcess(in: folder, ["--origin", base, "--record", "Kept"])
        for number in 1...20 { try request("/part", to: server, "HX-Request: \(number)") }
        let messages = try await server.end().messages
        let limits = "a URL has at most 16 responses, each to at most 16 different requests"
        let line = "substitute: not recorded 4 times: only the newest are recorded, since \(limits): \(base)/part\n"
        #expect(messages.contains(line), "\(messages)")
        #expect(messages.contains("16 responses new or changed in "), "\(messages)")
    }

    @Test("Responses of the map's entries aren't recorded, and a line says so")
    func ofMap() async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        try folder.writeMap("{ \"\(base)/own\": { \"text\": \"mine\" } }")
        let server = try await ServerProcess(in: folder, ["--origin", base, "--record", "Kept"])
        for path in ["/own", "/ok", "/own"] { try request(path, to: server) }
        let lines = try await server.end().messages.components(separatedBy: "\n").filter { $0.contains("not recorded") }
        let reason = "an entry of \(folder.path("substitutions.json")) responded"
        #expect(lines == ["substitute: not recorded 2 times: \(reason): \(base)/own"])

        // Offline, the recording responds to the second request.
        let offline = try await ServerProcess(in: folder, ["--offline", "--origin", base, "--record", "Kept"])
        for path in ["/own", "/ok"] { try request(path, to: offline) }
        let messages = try await offline.end().messages
        #expect(messages.contains("2 matched") && !messages.contains("not recorded"), "\(messages)")
    }

    @Test("The command that a part's line names records the file")
    func whole() async throws {
        defer { origin.stop() }
        let base = String(origin.baseURL.absoluteString.dropLast())
        let server = try await ServerProcess(in: folder, ["--origin", base, "--record", "Kept"])
        try request("/video.mp4", to: server, "Range: bytes=2-4")
        let line = try await server.end().messages.components(separatedBy: "\n").first {
            $0.contains("To record whole files")
        }
        let words = try #require(line).components(separatedBy: " get ").dropFirst().joined().components(
            separatedBy: " "
        )
        let run = try await folder.substitute(["get"] + words)
        #expect(run.status == 0)
        let offline = try await folder.substitute(
            "get",
            "--map",
            "Kept/substitutions.json",
            "--output",
            "-",
            base + "/video.mp4"
        )
        #expect(offline.output == "0123456789")
    }
}
