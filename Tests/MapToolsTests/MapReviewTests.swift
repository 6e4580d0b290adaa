import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("Warnings about more than files", .values)
struct MapReviewTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let json: String
        let key: String?
        let messages: [String]

        /// The key with the warning; `nil` if there's no warning.
        init(_ json: String, _ key: String? = nil, _ messages: String...) {
            (self.json, self.key, self.messages) = (json, key, messages)
        }

        var testDescription: String { json }
    }

    private func expect(
        _ row: Row,
        _ kind: SubstitutionMap.Warning.Kind,
        needsAttachedSession: Bool = false
    ) throws {
        let map = try SubstitutionMap(json: Data(row.json.utf8), handlers: ["h": { _ in .notSubstituted }])
        let warnings = MapReview(map).warnings
            .filter { $0.kind == kind && $0.needsAttachedSession == needsAttachedSession }
        #expect(warnings.map(\.key) == (row.key.map { [$0] } ?? []), "\(warnings)")
        for message in row.messages { #expect(warnings.first?.message.contains(message) == true, "\(warnings)") }
    }

    private static func foreign(_ key: String, _ pattern: String) -> Row {
        Row("{\(JSONText.string(key)): {\"status\": 204}}", key, "Write “\(pattern)”.")
    }

    @Test(
        "A key in the syntax of a router or a regular expression",
        arguments: [
            foreign("https://h/items/:id", "https://h/items/*"),
            foreign("https://h/items/:id/parts/:part", "https://h/items/*/parts/*"),
            foreign("https://h/items/{id}", "https://h/items/*"),
            foreign("https://h/{id}.json?a=1", "https://h/*.json?a=1"),
            foreign("https://h/v{n}/items", "https://h/v*/items"),
            foreign("https://h/items?id={id}", "https://h/items?id=*"),
            foreign(#"https://h/items/\d+"#, "https://h/items/*"),
            foreign(#"https://h/items/(\d+)/x"#, "https://h/items/*/x"),
            foreign(#"https://h/v\d/a\w{2,3}.png$"#, "https://h/v*/a*.png"),
            foreign("https://h/items/{{id}}/x", "https://h/items/*/x"),
            foreign("https://h/items?id={{id}}", "https://h/items?id=*"),
            foreign("https://h/items/:id?", "https://h/items/*"),
            foreign("https://h/items/:id?/parts/:part?", "https://h/items/*/parts/*"),
            foreign("https://h/items/:id?a=1", "https://h/items/*?a=1"),
            foreign("https://h/{kind}/*", "https://h/*/*"), foreign("https://h/{a}{b}", "https://h/*"),
            Row(#"{"https://h:80/items": {"status": 204}}"#), Row(#"{"https://h/wiki/Talk:id": {"status": 204}}"#),
            Row(#"{"https://h/a/:": {"status": 204}}"#), Row(#"{"https://h/a/:1": {"status": 204}}"#),
            Row(#"{"https://h/a?b={\"c\":1}": {"status": 204}}"#), Row(#"{"https://h/{}": {"status": 204}}"#),
            Row(#"{"https://h/a\\b": {"status": 204}}"#), Row(#"{"https://h/items/:id": null}"#),
            Row(#"{"https://h/items/:id": {"status": 204, "enabled": false}}"#),
        ]
    )
    func foreignSyntax(_ row: Row) throws {
        try expect(row, .foreignSyntax)
    }

    @Test(
        "A timeout that nothing uses",
        arguments: [
            Row(
                #"{"https://h/a": {"text": "a", "timeout": 5}}"#,
                "https://h/a",
                #"Add "use": "whenOffline", or remove “timeout”."#
            ),
            Row(#"{"https://h/a": {"text": "a", "timeout": 5, "use": "whenOffline"}}"#),
            Row(#"{"$defaults": {"timeout": 5}, "https://h/a": {"text": "a"}}"#),
            Row(#"{"$defaults": {"use": "whenOffline"}, "https://h/a": {"text": "a", "timeout": 5}}"#),
            Row(#"{"https://h/a": {"text": "a", "timeout": 5, "enabled": false}}"#),
        ]
    )
    func unusedTimeout(_ row: Row) throws {
        try expect(row, .noEffect)
    }

    @Test(
        "A delay that looks like milliseconds",
        arguments: [
            Row(#"{"https://h/a": {"text": "a", "delay": 1500}}"#, "https://h/a", "1,500 seconds", "write 1.5."),
            Row(#"{"https://h/a": {"text": "a", "delay": 250}}"#, "https://h/a", "250 seconds", "write 0.25."),
            Row(#"{"https://h/a": [{"text": "a", "delay": 61, "times": 2}]}"#, "https://h/a", "write 0.061."),
            Row(#"{"https://h/a": {"text": "a", "delay": 60}}"#),
            Row(
                #"{"$defaults": {"delay": 300}, "https://h/a": {"text": "a"}, "https://h/b": {"text": "b"}}"#,
                "https://h/a"
            ),
        ]
    )
    func longDelay(_ row: Row) throws {
        try expect(row, .longDelay)
    }

    @Test(
        "Entries that need an attached session",
        arguments: [
            Row(
                #"{"https://h/a": {"status": 200, "delay": 1}}"#,
                "https://h/a",
                "“delay” needs an attached session",
                "attached"
            ),
            Row(#"{"https://h/a": {"error": "timedOut"}}"#, "https://h/a", "“error” needs"),
            Row(#"{"https://h/a": {"forwardTo": "https://l/"}}"#, "https://h/a", "“forwardTo” needs"),
            Row(#"{"https://h/a": {"setRequestHeaders": {"A": "1"}}}"#, "https://h/a", "“setRequestHeaders” needs"),
            Row(#"{"https://h/a": {"status": 200, "when": {"json": 1}}}"#, "https://h/a", "“when.json” needs"),
            Row(#"{"https://h/a": {"status": 200, "when": {"text": ""}}}"#, "https://h/a", "“when.text” needs"),
            Row(
                #"{"https://h/a": [{"status": 200, "times": 1, "delay": 1}, {"error": "timedOut"}]}"#,
                "https://h/a",
                "“delay”, “error” and “times” need an attached session"
            ),
            Row(
                #"{"https://h/a": {"status": 302, "headers": {"Location": "/"}, "follow": false}}"#,
                "https://h/a",
                "“follow” needs"
            ),
            Row(#"{"https://h/a": {"stream": ["a"]}}"#, "https://h/a", "“stream” needs"),
            Row(#"{"https://h/a": {"text": "a", "bytesPerSecond": 1}}"#, "https://h/a", "“bytesPerSecond” needs"),
            Row(#"{"https://h/a": {"text": "a", "secondsPerLine": 1}}"#, "https://h/a", "“secondsPerLine” needs"),
            Row(
                #"{"https://h/a": [{"text": "a", "secondsPerEvent": 1, "times": 1}, {"handler": "h"}]}"#,
                "https://h/a",
                "“handler”, “times” and “secondsPerEvent” need an attached session"
            ),
            Row(#"{"https://h/a": {"status": 200, "when": {"headers": {"A": "1"}, "query": {"a": "1"}}}}"#),
            Row(#"{"https://h/a": {"status": 200, "methods": ["POST"]}}"#, "https://h/a", "for POST requests"),
            // The loader does ask a cache for GET.
            Row(#"{"https://h/a": {"status": 200, "methods": ["get"]}}"#),
            Row(
                #"{"https://h/a": {"text": "a", "use": "whenOffline"}}"#,
                "https://h/a",
                "waits for the network to fail"
            ),
        ]
    )
    func needsSession(_ row: Row) throws {
        try expect(row, .noEffect, needsAttachedSession: true)
    }

    @Test(
        "A method in lowercase that clients send in uppercase",
        arguments: [
            Row(
                #"{"https://h/a": {"status": 200, "methods": ["PUT", "post"]}}"#,
                "https://h/a",
                "“post” in “methods” isn't POST, since letter case matters. Write “POST”."
            ),
            Row(
                #"{"https://h/a": [{"status": 200, "methods": ["Get"]}, {"status": 204}]}"#,
                "https://h/a",
                "Write “GET”."
            ),
            Row(#"{"https://h/a": {"status": 200, "methods": ["GET", "patch", "M-SEARCH", "x"]}}"#),
            Row(#"{"https://h/a": {"status": 200, "methods": ["*"]}}"#),
            Row(#"{"https://h/a": {"status": 200, "methods": ["get"], "enabled": false}}"#),
        ]
    )
    func lowercaseMethod(_ row: Row) throws {
        try expect(row, .noEffect)
    }

    @Test("The files of a stream's pieces are looked at like an entry's own file")
    func pieces() throws {
        let folder = try TemporaryFolder(files: ["a.sse", "b.sse"])
        let json = #"""
            {
              "https://h/a": {"stream": ["b.sse", {"file": "a.sse"}]},
              "https://h/x/*": {"stream": ["a", {"file": ".*"}]},
              "https://h/y/*": {"stream": [{"file": "*"}]}
            }
            """#
        let map = try SubstitutionMap(json: Data(json.utf8), resources: folder.url, invalidEntries: .skip)
        let warnings = MapReview(map).warnings.filter { !$0.needsAttachedSession }
        #expect(warnings.map(\.kind) == [.neverWins, .catchAll])
        #expect(warnings.map(\.key) == ["https://h/x/*", "https://h/y/*"])
    }

    @Test("A file whose name differs from the map's only in letter case")
    func letterCase() throws {
        let folder = try TemporaryFolder(files: ["logo.png", "a.txt"])
        let json = #"{"https://h/a": "logo.png", "https://h/b": "a.txt"}"#
        let map = try SubstitutionMap(json: Data(json.utf8), resources: folder.url)
        // As on a disk that doesn't tell letter case apart, the file is there, but has another name.
        try FileManager.default.moveItem(at: folder.file("logo.png"), to: folder.file("Logo.png"))
        let warnings = MapReview(map).warnings.filter { $0.kind == .letterCase }
        #expect(warnings.map(\.key) == ["https://h/a"])
        #expect(warnings.first?.message.hasPrefix("The file “logo.png” is “Logo.png” on disk, so it will be") == true)
    }

    @Test("A pattern isn't shadowed by one that leaves it some requests")
    func shadowed() throws {
        let json = #"{"https://h/*": {"status": 200}, "https://h/**": {"status": 200, "methods": ["POST"]}}"#
        try expect(Row(json), .neverWins)
        try expect(Row(json.replacing("POST", with: "GET"), "https://h/**", "is shadowed by"), .neverWins)
    }
}
