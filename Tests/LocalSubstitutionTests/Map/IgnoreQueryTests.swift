import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("ignoreQuery", .values)
struct IgnoreQueryTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let key: String
        let rule: String
        let url: String

        init(_ key: String, _ rule: String, _ url: String) {
            self.key = key
            self.rule = rule
            self.url = url
        }

        var testDescription: String { "\(key) ignoring \(rule): \(url)" }
    }

    private func matches(_ row: Row) throws -> Bool {
        let json = "{\"\(row.key)\": {\"status\": 404, \"ignoreQuery\": \(row.rule)}}"
        return try TemporaryFolder().map(json).answer(row.url) != nil
    }

    @Test(
        "Removing the named parameters from key and request makes these match",
        arguments: [
            Row("https://h/a", "true", "https://h/a"),
            Row("https://h/a", "true", "https://h/a?b=c&d"),
            Row("https://h/a", "true", "https://h/a?"),
            Row("https://h/a?v=1", "true", "https://h/a"),
            Row("https://h/a?v=1", "true", "https://h/a?v=2"),
            Row("https://h/a", #"["fbclid"]"#, "https://h/a?fbclid=1"),
            Row("https://h/a", #"["fbclid"]"#, "https://h/a?fbclid"),
            Row("https://h/a", #"["fbclid"]"#, "https://h/a?fbclid=1&fbclid=2"),
            Row("https://h/a", #"["utm_*"]"#, "https://h/a?utm_source=x&utm_="),
            Row("https://h/a", #"["*"]"#, "https://h/a?utm_source=x&b"),
            Row("https://h/a?v=1", #"["utm_*"]"#, "https://h/a?utm_a=1&v=1&utm_b=2"),
            Row("https://h/a?v=1&w=2", #"["utm_*"]"#, "https://h/a?w=2&utm_a=1&v=1"),
            Row("https://h/a?v=1&utm_a=1", #"["utm_*"]"#, "https://h/a?v=1"),
            Row("https://h/a?utm_a=1", #"["utm_*"]"#, "https://h/a"),
            Row("https://h/a", #"["ü", "a b", "&"]"#, "https://h/a?%C3%BC=1&a%20b=2&%26=3"),
            Row("https://h/a", #"["fb"]"#, "https://h/a?%66%62=1"),
            Row("https://h/a", #"["it's"]"#, "https://h/a?it's=1"),
            Row("https://h/a", #"["it's"]"#, "https://h/a?it%27s=1"),
            Row("https://h/*", #"["v"]"#, "https://h/a?v=1"),
            Row("https://h/*.js", "true", "https://h/a.js?v=1"),
            Row("https://h/*.js", #"["v"]"#, "https://h/a.js?v=1"),
            Row("https://h/*.js?v=1", #"["v"]"#, "https://h/a.js?v=2"),
            Row("https://h/*.js?w=1", #"["v"]"#, "https://h/a.js?v=2&w=1"),
        ]
    )
    func yes(_ row: Row) throws {
        #expect(try matches(row))
    }

    @Test(
        "Other parameters stay, so these don't match",
        arguments: [
            Row("https://h/a", #"["fbclid"]"#, "https://h/a?FBCLID=1"),
            Row("https://h/a", #"["fbclid"]"#, "https://h/a?fbclid2=1"),
            Row("https://h/a", #"["utm_*"]"#, "https://h/a?utm=1"),
            Row("https://h/a", #"["utm_*"]"#, "https://h/a?xutm_a=1"),
            Row("https://h/a", #"["utm_*"]"#, "https://h/a?utm_a=1&b=2"),
            Row("https://h/a", #"["a"]"#, "https://h/a?b=a"),
            Row("https://h/a", "[]", "https://h/a?b"),
            Row("https://h/a", "false", "https://h/a?b"),
            Row("https://h/a?v=1", #"["utm_*"]"#, "https://h/a?v=2&utm_a=1"),
            Row("https://h/a?v=1&v=2", #"["utm_*"]"#, "https://h/a?v=2&v=1"),
            Row("https://h/a", "true", "https://h/b?c"),
            Row("https://h/a", "true", "http://h/a?c"),
            Row("https://h/*.js", #"["v"]"#, "https://h/a.js?w=1"),
        ]
    )
    func no(_ row: Row) throws {
        #expect(try !matches(row))
    }

    /// Each entry has its own status, which shows which one answered.
    private func winner(_ entries: [(key: String, rule: String?)], _ url: String) throws -> [Int?] {
        let members = entries.enumerated().map { number, entry in
            let rule = entry.rule.map { ", \"ignoreQuery\": \($0)" } ?? ""
            return "\"\(entry.key)\": {\"status\": \(200 + number)\(rule)}"
        }
        let folder = try TemporaryFolder()
        return try [members, members.reversed()].map { members in
            let map = try folder.map("{\(members.joined(separator: ","))}")
            return try map.match(NormalizedURL(url)).substitution?.status
        }
    }

    @Test("An entry that matches without ignoring wins over one that ignores")
    func withoutIgnoring() throws {
        let entries: [(String, String?)] = [("https://h/a?v=1", nil), ("https://h/a", "true")]
        #expect(try winner(entries, "https://h/a?v=1") == [200, 200])
        #expect(try winner(entries, "https://h/a?v=2") == [201, 201])
        // Even if it would ignore something else, and if the other one has more parameters left.
        #expect(
            try winner([("https://h/a", "true"), ("https://h/a?v=1&w=1", #"["w"]"#)], "https://h/a") == [200, 200]
        )
        #expect(
            try winner([("https://h/a?v=1&x=1", "true"), ("https://h/a?v=1", #"["x"]"#)], "https://h/a?x=1&v=1")
                == [200, 200]
        )
    }

    @Test("Then the one with more remaining parameters wins")
    func moreParameters() throws {
        let entries: [(String, String?)] = [
            ("https://h/a?v=1&w=1", #"["utm_*"]"#), ("https://h/a?v=1", #"["utm_*", "w"]"#), ("https://h/a", "true"),
        ]
        #expect(try winner(entries, "https://h/a?v=1&w=1&utm_a=1") == [200, 200])
        #expect(try winner(entries, "https://h/a?v=1&w=2&utm_a=1") == [201, 201])
        #expect(try winner(entries, "https://h/a?v=3") == [202, 202])
    }

    @Test("Then the smaller key wins")
    func smallerKey() throws {
        let entries: [(String, String?)] = [("https://h/a?a", "true"), ("https://h/a?b", "true")]
        #expect(try winner(entries, "https://h/a") == [200, 200])
    }

    @Test("An exact key that ignores wins over a pattern")
    func exactBeforePattern() throws {
        #expect(try winner([("https://h/a", "true"), ("https://h/a?v=*", nil)], "https://h/a?v=1") == [200, 200])
    }

    @Test("An entry whose file is gone leaves the URL to one that ignores more")
    func nextWhenGone() throws {
        let folder = try TemporaryFolder(files: ["1.txt", "2.txt"])
        let map = try folder.map(
            #"{"https://h/a?v=1": "1.txt", "https://h/a": {"file": "2.txt", "ignoreQuery": true}}"#
        )
        #expect(try map.answer("https://h/a?v=1")?.file == "1.txt")
        try folder.remove("1.txt")
        #expect(try map.answer("https://h/a?v=1")?.file == "2.txt")
    }

    @Test("What remains of a pattern's wildcards fills the file name")
    func filling() throws {
        let folder = try TemporaryFolder(files: ["a.js"])
        let map = try folder.map(#"{"https://h/*.js?v=*": {"file": "*.js", "ignoreQuery": ["v"]}}"#)
        #expect(try map.answer("https://h/a.js?v=3")?.file == "a.js")
        #expect(try map.answer("https://h/a.js")?.file == "a.js")
    }
}
