import Foundation
import LoopbackOrigin
import TestSupport
import Testing

/// Characters that control a terminal, or the order in which it shows others.
enum ForeignText {
    /// The characters that HTTP allows (RFC 9110 §5.5).
    static let inHTTP = "\u{9B}2J\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{2029}"
    static let hostile = "\u{1B}[31m\u{9B}2J\u{7F}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{2029}"
    /// One of them as it's escaped in text and in JSON.
    static let (escaped, inJSON) = (#"\u{202E}"#, #"\u202e"#)

    /// Returns whether a text has none of them. Newlines are allowed, since they end lines.
    static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: false
            default: true
            }
        }
    }
}

@Suite("Text from outside", .sessions)
struct ForeignTextTests {
    private static let hostile = ForeignText.hostile

    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer(routes: [
            "/page": .text("<img src=part>", type: "text/html; name=\(Self.hostile)"),
            "/part": .text("", type: "image/\(Self.hostile)"),
            "/moved": .redirect(to: "/\(Self.hostile)"),
            "/away": .redirect(to: "\(Self.hostile)://"),
        ])
        try folder.writeMap(
            #"{ "https://h.example/a": "a.txt" }"#,
            files: ["a.txt": "x", "\(Self.hostile).txt": "x", "\(Self.hostile).css": "x"]
        )
        try write(
            ["https://h.example/*": "\(Self.hostile).txt", "https://h.example/b\(Self.hostile)*": "*.txt"],
            "right"
        )
        try write(["https://h.example/\(Self.hostile)": "\(Self.hostile)", "\(Self.hostile)": Self.hostile], "wrong")
        try write(["\(origin.baseURL)page": "\(Self.hostile).txt", "\(origin.baseURL)dead": "a.txt"], "remote")
        try folder.write(
            ImportTests.archive([
                ImportTests.entry("https://h.example/\(Self.hostile)", type: "text/\(Self.hostile)", text: "x"),
                ImportTests.entry("ftp://h.example/\(Self.hostile)", type: "text/\(Self.hostile)", text: "x"),
            ]),
            to: "a.har"
        )
    }

    private func write(_ map: [String: String], _ name: String) throws {
        try folder.write(JSONSerialization.data(withJSONObject: map), to: "\(name).json")
    }

    /// `HOST` stands for the origin, and `HOSTILE` for the text.
    @Test(
        "It can't control a terminal, whichever command prints it",
        arguments: [
            ["HOSTILE"], ["--HOSTILE"], ["help", "HOSTILE"], ["schema", "--HOSTILE"],
            ["get", "--map", "HOSTILE", "http://h/"],
            ["get", "HOSTILE"], ["get", "HOST/page"], ["get", "HOST/page", "--json"],
            ["get", "https://h.example/b", "--map", "right.json"],
            ["get", "https://h.example/b", "--map", "wrong.json"],
            ["get", "https://h.example/b", "--map", "right.json", "--json"],
            ["get", "--method", "HOSTILE", "https://h.example/a"],
            ["get", "--header", "HOSTILE", "https://h.example/a"],
            ["get", "HOST/page", "--output", "none/HOSTILE"], ["get", "HOST/page", "--record", "HOSTILE"],
            ["explain", "https://h.example/b", "--map", "right.json"],
            ["explain", "https://h.example/b", "--map", "right.json", "--json"],
            ["check"], ["check", "--map", "wrong.json"],
            ["check", "--map", "wrong.json", "--json"],
            ["check", "--map", "remote.json", "--remote"], ["check", "--map", "remote.json", "--remote", "--json"],
            ["add", "HOSTILE"], ["add", "http://h/", "HOSTILE"],
            ["import", "a.har"], ["import", "a.har", "--json"], ["import", "HOSTILE"],
            ["import", "--match", "HOSTILE", "a.har"],
            ["init", "--map", "HOSTILE/a.json"], ["init", "--map", "HOSTILE/a.json", "--json"],
            ["serve", "--origin", "HOSTILE"], ["demo", "--output", "none/HOSTILE"], ["demo", "--map", "HOSTILE"],
        ]
    )
    func printed(words: [String]) async throws {
        defer { origin.stop() }
        let host = String(origin.baseURL.absoluteString.dropLast())
        let run = try await folder.substitute(
            words.map { $0.replacing("HOSTILE", with: Self.hostile).replacing("HOST", with: host) }
        )
        #expect(run.hasExited)
        #expect(ForeignText.isHarmless(run.output), "\(run.output.debugDescription)")
        #expect(ForeignText.isHarmless(run.messages), "\(run.messages.debugDescription)")
        let printed = run.output + run.messages
        #expect(printed.contains(ForeignText.escaped) || printed.contains(ForeignText.inJSON), "\(printed)")
        if words.contains("--json") { _ = try JSONSerialization.jsonObject(with: run.bytes) }
    }

    @Test("It's unchanged in JSON once a program has read it")
    func json() async throws {
        defer { origin.stop() }
        let run = try await folder.substitute("get", origin.url("page").absoluteString, "--json")
        #expect(try run.json([GetTests.Record].self).first?.type?.contains("\u{202E}\u{2066}\u{200F}\u{61C}") == true)
    }

    @Test(
        "It can't control a terminal in a redirect or an added response either",
        arguments: [["get", "moved"], ["get", "away"], ["add", "page"], ["add", "page", "--json"]]
    )
    func redirect(words: [String]) async throws {
        defer { origin.stop() }
        let run = try await folder.substitute([words[0], origin.url(words[1]).absoluteString] + words.dropFirst(2))
        #expect(ForeignText.isHarmless(run.output + run.messages), "\((run.output + run.messages).debugDescription)")
    }

    @Test("It's escaped between the colors that the command adds", .enabled(if: Terminal.isThere))
    func color() async throws {
        defer { origin.stop() }
        let run = try await Terminal.run(folder, ["check", "--map", "wrong.json"], [:])
        // A terminal adds the carriage returns.
        let added = ["\u{1B}[31m", "\u{1B}[33m", "\u{1B}[0m", "\r"]
        let rest = added.reduce(run.output) { $0.replacingOccurrences(of: $1, with: "", options: .literal) }
        #expect(run.output.contains(": \u{1B}[31merror\u{1B}[0m: "))
        #expect(ForeignText.isHarmless(rest), "\(rest.debugDescription)")
    }
}
