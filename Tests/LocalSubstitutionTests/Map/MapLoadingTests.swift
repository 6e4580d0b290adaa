import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Loading a map", .values)
struct MapLoadingTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(files: ["a.txt", "b.txt", "app/main.js"])
    }

    /// Returns the options of the only entry that a value makes, with optional defaults.
    private func options(_ value: String, defaults: String? = nil) throws -> Entry.Options {
        let members = (defaults.map { "\"$defaults\": \($0), " } ?? "") + "\"https://h/a\": \(value)"
        let map = try folder.map("{\(members)}")
        return try #require(map.storage.index.entries.first).options
    }

    @Test("An entry is a file name, an object or null")
    func values() throws {
        let map = try folder.map(
            #"{"https://h/a": "a.txt", "https://h/b": {"file": "b.txt"}, "https://h/c": {"status": 404}, "https://h/d": null}"#
        )
        #expect(map.count == 4)
        #expect(map.problems.isEmpty)
        #expect(try map.answer("https://h/a") == .init(key: "https://h/a", file: "a.txt"))
        #expect(try map.answer("https://h/b") == .init(key: "https://h/b", file: "b.txt"))
        #expect(try map.answer("https://h/c") == .init(key: "https://h/c", file: nil))
        #expect(try map.answer("https://h/d") == nil)
    }

    @Test("A substitution has the entry's values")
    func substitution() throws {
        let map = try folder.map(
            """
            {"https://h/a": {
              "file": "a.txt", "mimeType": "text/x-test", "charset": "iso-8859-1", "status": 203, "headers": {"X-A": "1"},
              "use": "untilUpdated", "methods": ["GET", "POST"], "enabled": true, "comment": "why"
            }}
            """
        )
        let url = try #require(URL(string: "https://h/a"))
        let found = try #require(map.substitution(for: url))
        #expect(found.key == "https://h/a")
        #expect(found.fileURL?.path == folder.file("a.txt").standardizedFileURL.path)
        #expect(found.mimeType == "text/x-test")
        #expect(found.charset == "iso-8859-1")
        #expect(found.status == 203)
        #expect(found.headers == ["X-A": "1"])
        #expect(found.use == .untilUpdated)
        #expect(try map.match(NormalizedURL("https://h/a")).winner?.options.methods == ["GET", "POST"])
    }

    @Test("Values that an entry doesn't set are as documented")
    func standard() throws {
        let found = try options(#"{"file": "a.txt"}"#)
        #expect(found.status == 200)
        #expect(found.fields.mimeType == nil)
        #expect(found.fields.charset == nil)
        #expect(found.fields.headers.isEmpty)
        #expect(found.ignoreQuery == nil)
        #expect(found.use == .always)
        #expect(found.fields.timeout == nil)
        #expect(found.methods == ["GET"])
        #expect(try options(#"{"stream": ["a"]}"#).methods == ["GET"])
        #expect(found.isEnabled)
    }

    @Test("The other fields are read")
    func otherFields() throws {
        #expect(try options(#"{"file": "a.txt", "use": "whenOffline", "timeout": 2.5}"#).fields.timeout == 2.5)
        #expect(try options(#"{"file": "a.txt", "use": "always"}"#).use == .always)
        #expect(try options(#"{"file": "a.txt", "enabled": false}"#).isEnabled == false)
        #expect(try options(#"{"file": "a.txt", "ignoreQuery": true}"#).ignoreQuery == Query.Ignored(names: nil))
        let rule = try options(#"{"file": "a.txt", "ignoreQuery": ["utm_*", "fbclid"]}"#).ignoreQuery
        #expect(rule == Query.Ignored(names: ["fbclid", "utm_*"]))
    }

    @Test("Every status from 200 to 599 is valid", arguments: [200, 404, 599])
    func statuses(status: Int) throws {
        #expect(try options("{\"status\": \(status)}").status == status)
    }

    @Test("GET implies HEAD, and other methods imply nothing")
    func methods() throws {
        let map = try folder.map(
            #"{"https://h/a": "a.txt", "https://h/b": {"file": "b.txt", "methods": ["POST"]}}"#
        )
        let methods = ["GET", "HEAD", "POST"]
        for (url, answers) in [("https://h/a", [true, true, false]), ("https://h/b", [false, false, true])] {
            let url = try NormalizedURL(url)
            #expect(methods.map { map.match(url, for: RequestFacts(method: $0)).winner != nil } == answers)
        }
    }

    private func winner(_ url: String, _ method: String, _ map: SubstitutionMap) throws -> Entry.Options? {
        try map.match(NormalizedURL(url), for: RequestFacts(method: method)).winner?.options
    }

    @Test("$defaults sets the fields that entries don't, wherever it is in the map")
    func defaults() throws {
        let members = [
            #""$defaults": {"delay": 3, "charset": "utf-16", "methods": ["PUT"], "use": "whenOffline", "timeout": 1}"#,
            #""https://h/a": "a.txt""#,
            #""https://h/b": {"file": "b.txt", "delay": 0, "methods": ["GET"], "use": "always"}"#,
        ]
        for json in [members, members.reversed()].map({ "{\($0.joined(separator: ","))}" }) {
            let map = try folder.map(json)
            let plain = try #require(try winner("https://h/a", "PUT", map))
            #expect((plain.fields.charset, plain.methods, plain.use) == ("utf-16", ["PUT"], .whenOffline))
            let own = try #require(try winner("https://h/b", "GET", map))
            #expect((own.fields.charset, own.methods, own.use) == ("utf-16", ["GET"], .always))
            #expect(map.entries.map { $0.options.fields.delay == ($0.key == "https://h/a" ? 3 : 0) } == [true, true])
        }
        #expect(try options(#"{"file": "a.txt", "enabled": true}"#, defaults: #"{"enabled": false}"#).isEnabled)
    }

    @Test("If there are two $defaults, the last applies to all entries that are still used", arguments: [0, 1, 2])
    func twoDefaults(_ place: Int) throws {
        var members = [#""$defaults": {"delay": 1}"#, #""https://h/a": "a.txt""#, #""https://h/b": "b.txt""#]
        members.insert(#""$defaults": {"delay": 2}"#, at: place + 1)
        let map = try folder.map("{\(members.joined(separator: ","))}", invalidEntries: .skip)
        #expect(map.problems.map(\.kind) == [.duplicate])
        #expect(map.entries.map(\.options.fields.delay) == [2, 2])
    }

    @Test(
        "An entry isn't used if another with its key is wrong, whichever comes first",
        arguments: [
            #"{"https://h": "", "https://h": "a.txt"}"#, #"{"https://h/*": "", "https://h/*": "a.txt"}"#,
            #"{"https://H": "", "https://h": "", "https://h": "a.txt"}"#,
        ]
    )
    func wrongTwin(_ json: String) throws {
        let map = try folder.map(json, invalidEntries: .skip)
        #expect(map.entries.isEmpty)
        #expect(map.problems.contains { $0.kind == .duplicate })
    }

    @Test("Headers of $defaults and of an entry merge, and the entry's win in any letter case")
    func defaultHeaders() throws {
        let defaults = #"{"headers": {"X-A": "1", "X-B": "1"}}"#
        let merged = try options(#"{"file": "a.txt", "headers": {"x-b": "2", "X-C": "2"}}"#, defaults: defaults).fields
            .headers
        #expect(merged == ["X-A": "1", "x-b": "2", "X-C": "2"])
        #expect(try options(#""a.txt""#, defaults: defaults).fields.headers == ["X-A": "1", "X-B": "1"])
    }

    @Test("An entry can set ignoreQuery back to false")
    func ignoreQueryFalse() throws {
        let rule = try options(#"{"file": "a.txt", "ignoreQuery": false}"#, defaults: #"{"ignoreQuery": true}"#)
            .ignoreQuery
        #expect(rule == nil)
    }

    @Test("null entries don't take the defaults")
    func nullAndDefaults() throws {
        let map = try folder.map(#"{"$defaults": {"methods": ["PUT"], "enabled": false}, "https://h/*": null}"#)
        let match = try map.match(NormalizedURL("https://h/a"))
        #expect(match.winner?.key == "https://h/*")
        #expect(match.substitution == nil)
    }

    @Test("$schema is ignored, whatever it is", arguments: [#""./substitutions.schema.json""#, "5", "{}", "null"])
    func schema(value: String) throws {
        #expect(try folder.map("{\"$schema\": \(value), \"https://h/a\": \"a.txt\"}").count == 1)
    }

    @Test("A byte order mark is accepted, in a file and in code")
    func byteOrderMark() throws {
        let json = Data("\u{FEFF}{\"https://h/a\": \"a.txt\"}".utf8)
        #expect(json.starts(with: [0xEF, 0xBB, 0xBF]))
        #expect(try SubstitutionMap(json: json, resources: folder.url).count == 1)
        let file = try folder.write("map.json", json)
        #expect(try SubstitutionMap(contentsOf: file, resources: folder.url).count == 1)
    }

    @Test("A map without entries is valid")
    func empty() throws {
        #expect(try folder.map("{}").count == 0)
    }

    @Test("Entries in code make the same map")
    func inCode() throws {
        let map = try SubstitutionMap(["https://h/a": "a.txt", "https://h/app/*": "app/*"], resources: folder.url)
        #expect(map.count == 2)
        #expect(try map.answer("https://h/a")?.file == "a.txt")
        #expect(try map.answer("https://h/app/main.js")?.file == "app/main.js")
    }

    @Test("A map with one of everything loads")
    func example() throws {
        let files = ["fakeGlobalNavBG.png", "app/x.js", "fonts/x.woff2", "config.json", "logo.png"]
        let folder = try TemporaryFolder(files: files)
        let map = try folder.map(
            """
            {
              "$schema": "./substitutions.schema.json",
              "$defaults": { "headers": { "Access-Control-Allow-Origin": "*" } },
              "http://images.apple.com/global/nav/images/globalnavbg.png": "fakeGlobalNavBG.png",
              "https://cdn.example.com/app/*": "app/*",
              "https://*.example.com/fonts/*.woff2": "fonts/*.woff2",
              "https://api.example.com/config?v=2": { "file": "config.json", "comment": "until the new API is out" },
              "https://static.example.com/logo.png": { "file": "logo.png", "ignoreQuery": ["utm_*", "fbclid"] },
              "https://api.example.com/gone": { "status": 404 },
              "https://api.example.com/live/*": null
            }
            """
        )
        #expect(map.count == 7)
        #expect(try map.answer("http://images.apple.com/global/nav/images/globalnavbg.png")?.file == files[0])
        #expect(try map.answer("https://cdn.example.com/app/x.js?v=1")?.file == "app/x.js")
        #expect(try map.answer("https://a.example.com/fonts/x.woff2")?.file == "fonts/x.woff2")
        #expect(try map.answer("https://api.example.com/config?v=2")?.file == "config.json")
        #expect(try map.answer("https://api.example.com/config?v=1") == nil)
        #expect(try map.answer("https://static.example.com/logo.png?utm_source=x")?.file == "logo.png")
        #expect(try map.answer("https://api.example.com/gone") == .init(key: "https://api.example.com/gone", file: nil))
        #expect(try map.answer("https://api.example.com/live/x") == nil)
    }
}
