import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import substitute

@Suite("The limit for bodies", .sessions, .timeLimit(.minutes(5)))
struct LimitTests {
    /// More than the default limit.
    private static let bomb = GzipBomb.answer(bytes: 300 << 20)

    private let folder: TemporaryFolder
    private let origin: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        origin = try LoopbackServer { request in
            request.path == "/exact" ? .ok(Data(count: 4_096)) : request.path == "/small" ? .text("small") : Self.bomb
        }
        try folder.writeMap(
            """
            {
              "\(origin.url("/mapped").absoluteString)": "a.txt",
              "\(origin.url("/offline").absoluteString)": { "file": "a.txt", "use": "whenOffline" }
            }
            """,
            files: ["a.txt": "a"]
        )
    }

    @Test(
        "Every command that loads has it, with an error that names the URL, the limit and the option",
        arguments: [
            (["get", "/bomb"], "256 MiB"), (["get", "--limit", "1M", "/bomb"], "1 MiB"),
            (["get", "--limit=100k", "--output", "kept", "/bomb"], "100 KiB"),
            (["get", "--limit", "1M", "--record", "kept", "/bomb"], "1 MiB"),
            (["get", "--limit", "1M", "/offline"], "1 MiB"),
            (["get", "--limit", "1M", "--cache-only", "/bomb"], "1 MiB"),
            (["add", "--limit", "5MB", "/bomb"], "5,000,000 bytes"),
            (["check", "--remote", "--update", "--limit", "1000", "/mapped"], "1,000 bytes"),
        ]
    )
    func limited(_ words: [String], _ limit: String) async throws {
        defer { origin.stop() }
        let path = try #require(words.last)
        let url = origin.url(path).absoluteString
        let operands = words[0] == "check" ? [] : [url]
        let run = try await folder.substitute(words.dropLast() + operands)
        #expect(run.status == 1)
        #expect(run.hasExited)
        let lines = (run.messages + run.output).split(separator: "\n").filter {
            $0.contains(url) && $0.contains("--limit")
        }
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(": The body is larger than \(limit). Raise the limit with --limit.") == true)
        #expect(try folder.contents("Resources/a.txt") == Data("a".utf8))
        #expect(!folder.exists("Resources/127.0.0.1_\(origin.port)"))
        #expect(!folder.exists("kept/Substitutes/127.0.0.1_\(origin.port)"))
    }

    @Test("A body may be as long as the limit, but not a byte longer", arguments: [(4_096, Int32(0)), (4_095, 1)])
    func exact(_ limit: Int, _ status: Int32) async throws {
        defer { origin.stop() }
        let url = origin.url("/exact").absoluteString
        #expect(try await folder.substitute("get", "--limit", "\(limit)", url).status == status)
    }

    @Test(
        "An entry's own file may be longer",
        arguments: [["/mapped"], ["--cache-only", "/mapped"], ["--header", "Authorization: x", "/mapped"]]
    )
    func ownFile(_ words: [String]) async throws {
        defer { origin.stop() }
        try folder.write("longer", to: "Resources/a.txt")
        let url = origin.url(try #require(words.last)).absoluteString
        let run = try await folder.substitute(["get", "--limit", "2"] + words.dropLast() + [url])
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.hasPrefix("matched ← a.txt  200  text/plain; charset=utf-8  6 B  "))
    }

    /// Runs in a separate process, whose only child is the command.
    @Test("Loading takes memory in proportion to the limit, not to the body")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let origin = try LoopbackServer { _ in GzipBomb.answer(bytes: 300 << 20) }
            defer { origin.stop() }
            let url = origin.url("/bomb").absoluteString
            let folder = try TemporaryFolder()
            try folder.writeMap("{}")
            let run = try await folder.substitute("get", "--limit", "1M", url)
            #expect(run.messages.contains("The body is larger than 1 MiB."))
            #if canImport(Darwin)
            let (children, unit) = (RUSAGE_CHILDREN, 1)
            #else
            let (children, unit) = (__rusage_who_t(RUSAGE_CHILDREN.rawValue), 1 << 10)
            #endif
            var usage = rusage()
            getrusage(children, &usage)
            let peak = usage.ru_maxrss * unit
            #expect(peak < 150 << 20)
            #expect(peak > 5 << 20, "the system doesn't say")
        }
    }

    @Test(
        "It can be written as people type it",
        arguments: [
            ("1", 1, "1 byte"), ("500", 500, "500 bytes"), ("4096", 4_096, "4 KiB"), ("64k", 65_536, "64 KiB"),
            ("64K", 65_536, "64 KiB"), ("1kB", 1_000, "1,000 bytes"), ("256M", 268_435_456, "256 MiB"),
            ("3MiB", 3_145_728, "3 MiB"), ("2G", 2_147_483_648, "2 GiB"), ("1GB", 1_000_000_000, "1,000,000,000 bytes"),
        ]
    )
    func size(_ text: String, _ bytes: Int, _ description: String) throws {
        let count = try #require(Loader.Limit(text))
        #expect(count.bytes == bytes)
        #expect(count.description == description)
    }

    @Test(
        "It must be a size",
        arguments: [
            "", "0", "0k", "-1", "1.5M", "M", "1 M", "1T", "1MiBB", "9223372036854775807k", "99999999999999999999",
        ]
    )
    func noSize(_ text: String) { #expect(Loader.Limit(text) == nil) }
}
