import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute get --data", .sessions)
struct GetDataTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let json = "Content-Type: application/json"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap("{}")
        try folder.write("one\r\ntwo\n\0", to: "body")
    }

    /// The typed words, and the method, type and body that the origin gets.
    struct Row: CustomTestStringConvertible, Sendable {
        let words: [String]
        var method = "POST"
        var type = form
        let body: String

        var testDescription: String { words.joined(separator: " ") }
    }

    static let rows = [
        Row(words: ["--data", "a=1"], body: "a=1"),
        Row(words: ["--data", "a=1", "--data=b=2 &"], body: "a=1&b=2 &"),
        Row(words: ["--data", #"{"id": 7}"#, "--header", json], type: "application/json", body: #"{"id": 7}"#),
        Row(words: ["--header", "content-type: text/x", "--data", "x"], type: "text/x", body: "x"),
        Row(words: ["--method", "put", "--data", "x"], method: "PUT", body: "x"),
        Row(words: ["--data", "@body"], body: "onetwo"),
        Row(words: ["--data", "x", "--data", "@body"], body: "x&onetwo"),
        Row(words: ["--data", "@-"], body: "onetwo"),
        Row(words: ["--data=--x"], body: "--x"),
    ]

    @Test("It sends what curl would", arguments: rows, [[], ["--cache-only"]])
    func sends(row: Row, others: [String]) async throws {
        let origin = try LoopbackServer(routes: ["/a": .text("received")])
        defer { origin.stop() }
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.path("body")))
        let words = ["get"] + others + row.words + [origin.url("/a").absoluteString]
        let run = try await folder.substitute(words, input: input)
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.hasPrefix("network  200"))
        let request = try #require(origin.requests.first)
        #expect(origin.requests.count == 1 && request.method == row.method)
        #expect(request.header("Content-Type") == row.type)
        #expect(String(decoding: request.body, as: UTF8.self) == row.body)
    }

    @Test("An entry that lists the method answers, and explain says so")
    func mapped() async throws {
        let url = "http://nowhere.invalid/orders"
        try folder.writeMap(#"{ "\#(url)": { "file": "a.txt", "methods": ["POST"] } }"#, files: ["a.txt": "done"])
        let get = try await folder.substitute("get", "--data", "x", url)
        #expect(get.output.hasPrefix("matched ← a.txt  200  text/plain; charset=utf-8  4 B"))
        let explained = try await folder.substitute("explain", "--data", "x", url)
        #expect(explained.output.hasPrefix("POST \(url)\n"))
        #expect(explained.output.contains("\n  attached:     matched: the entry's file\n  cache only:   unmatched: "))
    }

    @Test("If a file can't be read, it's an error and nothing is sent")
    func unreadable() async throws {
        let origin = try LoopbackServer(routes: [:])
        defer { origin.stop() }
        let missing = "No such file or directory"
        for (name, reason) in [("none", missing), ("", missing), (".", "it's a folder")] {
            let run = try await folder.substitute("get", "--data", "@\(name)", origin.url("/a").absoluteString)
            #expect(run.status == 1)
            let message = "--data: “\(name)” can't be read: \(reason). Name a readable file after @."
            #expect(run.messages == "substitute: \(message)\n")
        }
        #expect(origin.requests.isEmpty)
    }
}
