import Foundation
import LocalSubstitution
import MapWriting
import TestSupport
import Testing

@testable import MapTools

@Suite("A test's recording on disk", .values)
struct RecordedMapTests {
    private let folder: TemporaryFolder
    private let file: URL
    private let bodies: URL

    init() throws {
        folder = try TemporaryFolder()
        file = folder.file("recorded/ShopTests/Cart.signIn.json")
        bodies = folder.file("recorded/ShopTests/Cart.signIn")
    }

    private static func exchange(
        _ method: String = "GET",
        _ url: String = "http://h/a",
        _ body: String = "body",
        status: Int = 200,
        request: String? = nil,
        type: String = "text/plain; charset=utf-8"
    ) -> RecordedExchange {
        RecordedExchange(
            RecordedResponse(
                method: method,
                url: URL(string: url) ?? URL(fileURLWithPath: "/"),
                requestBody: request.map { Data($0.utf8) },
                status: status,
                headers: ["Content-Type": type],
                body: Data(body.utf8)
            )
        )
    }

    @discardableResult
    private func record(_ exchanges: RecordedExchange..., keepsEntries: Bool = true) throws -> [RecordedMap.Added] {
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: keepsEntries)
        let outcomes = map.add([exchanges]).outcomes.joined()
        try map.save()
        return try outcomes.map { try $0.get() }
    }

    /// The names of all files below the folder `recorded`, without the folder's name.
    private var files: [String] {
        let root = folder.file("recorded").path
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        var isFolder: ObjCBool = false
        return names.filter {
            FileManager.default.fileExists(atPath: "\(root)/\($0)", isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }

    private var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    /// Returns the status and the body that the recording has for a request.
    private func response(_ url: String, _ method: String = "GET", request: String? = nil) throws -> String? {
        let map = try SubstitutionMap(contentsOf: file, resources: bodies)
        let facts = RequestFacts(method: method, body: request.map { .data(Data($0.utf8)) } ?? .none)
        guard let found = map.match(try NormalizedURL(url), for: facts).localSubstitution else { return nil }
        let name = try #require(found.fileName)
        return "\(found.status) \(try String(contentsOf: bodies.appendingPathComponent(name), encoding: .utf8))"
    }

    @Test(
        "A recording that can't be removed keeps its bodies",
        .enabled(if: geteuid() != 0, "root may remove every file")
    )
    func unremovable() throws {
        try record(Self.exchange())
        let before = files
        let parent = file.deletingLastPathComponent().path
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: parent)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: parent) }
        #expect(throws: Complaint.self) { try record(keepsEntries: false) }
        #expect(files == before && before.count == 2)
    }

    @Test("A recording is a sorted map with a folder of bodies beside it, and nothing else")
    func new() throws {
        let added = try record(
            Self.exchange("GET", "http://h/b", "b"),
            Self.exchange("POST", "http://h/a", "a", request: #"{ "n": 1 }"#)
        )
        #expect(added.map(\.change) == [.new, .new])
        #expect(added[0].file == "h/b.txt" && added[1].file.hasPrefix("h/a-"))
        #expect(files == ["ShopTests/Cart.signIn.json"] + added.map { "ShopTests/Cart.signIn/\($0.file)" }.sorted())
        let keys = text.split(separator: "\n").filter { $0.hasPrefix("  \"") }
        #expect(keys.map { $0.contains("http://h/a") } == [true, false], "\(text)")
        #expect(try response("http://h/a", "POST", request: #"{ "n": 1 }"#) == "200 a")
    }

    @Test(
        "Of several responses to one request, one after the other gets a file",
        arguments: [["1", "2"], ["1", "2", "1"], ["2", "1", "1"]]
    )
    func sequence(_ responses: [String]) throws {
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        _ = map.add([responses.map { Self.exchange("GET", "http://h/a", $0) }])
        try map.save()
        let names = files.filter { $0.hasSuffix(".txt") }
        #expect(names.count == 2 && names.contains("ShopTests/Cart.signIn/h/a.txt"), "\(names)")
        #expect(try response("http://h/a") == "200 \(responses[0])")
    }

    @Test("What's missing is added, and an edited entry stays as it was written")
    func missing() throws {
        try record(Self.exchange())
        let edited = text.replacing("\"h/a.txt\"", with: "{ \"file\": \"h/a.txt\",   \"comment\": \"mine\" }")
        try Data(edited.utf8).write(to: file)
        let added = try record(Self.exchange("POST", "http://h/a", "posted"), Self.exchange("GET", "http://h/c", "c"))
        #expect(added.map(\.change) == [.new, .new])
        #expect(text.contains("{ \"file\": \"h/a.txt\",   \"comment\": \"mine\" }"), "\(text)")
        #expect(try response("http://h/a") == "200 body")
        #expect(try response("http://h/a", "POST") == "200 posted")
    }

    @Test("The order of the members in a request's JSON changes nothing in a recording that's recorded again")
    func orderOfMembers() throws {
        let requests = [#"{"n": 1, "m": {"b": 2, "a": [3]}}"#, #"{"m": {"a": [3], "b": 2}, "n": 1}"#]
        try record(Self.exchange("POST", "http://h/a", "posted", request: requests[0]))
        let before = (text, files)
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        let added = map.add([[Self.exchange("POST", "http://h/a", "posted", request: requests[1])]]).outcomes.joined()
        #expect(map.removed == [])
        try map.save()
        #expect(try added.map { try $0.get().change } == [.unchanged])
        #expect(text == before.0 && files == before.1, "\(text)")
    }

    @Test("Conditions as deep as JSON may be stay different")
    func deepConditions() throws {
        let requests = ["1", "2"].map { number in
            String(repeating: "[", count: JSONValue.deepest) + number + String(repeating: "]", count: JSONValue.deepest)
        }
        let exchanges = requests.map { Self.exchange("POST", "http://h/a", "for \($0)", request: $0) }
        try record(exchanges[0], exchanges[1])
        try record(exchanges[0], exchanges[1], keepsEntries: false)
        for request in requests {
            #expect(try response("http://h/a", "POST", request: request) == "200 for \(request)")
        }
    }

    @Test("A later writing of the same test begins with the entries from before the first")
    func twice() throws {
        try record(Self.exchange("GET", "http://h/before"))
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: true)
        let beginning = map.beginning
        _ = map.add([[Self.exchange("GET", "http://h/a", "1")]])
        try map.save()
        map = try RecordedMap(file, bodies: bodies, keepsEntries: true, since: beginning)
        let exchanges = ["1", "2"].map { Self.exchange("GET", "http://h/a", $0) }
        let outcomes = map.add([exchanges + [Self.exchange("GET", "http://h/b")]]).outcomes[0]
        try map.save()
        #expect(try outcomes.map { try $0.get().change } == [.replaced, .replaced, .new])
        #expect(text.components(separatedBy: "\"times\": 1").count == 2, "\(text)")
        #expect(try SubstitutionMap(contentsOf: file, resources: bodies).count == 3)
    }

    @Test("A new body gets another name if the old file's bytes differ, and the old file goes")
    func replaced() throws {
        try record(Self.exchange("GET", "http://h/a", "1"), Self.exchange("GET", "http://h/b", "b"))
        let added = try record(
            Self.exchange("GET", "http://h/a", "2"),
            Self.exchange("GET", "http://h/b", "b"),
            keepsEntries: false
        )
        #expect(added.map(\.change) == [.replaced, .unchanged])
        #expect(added[0].file.hasPrefix("h/a-") && added[1].file == "h/b.txt")
        #expect(files.filter { $0.hasSuffix(".txt") } == added.map { "ShopTests/Cart.signIn/\($0.file)" }.sorted())
        #expect(try response("http://h/a") == "200 2")
    }

    @Test("Requests that aren't made any more are removed, and an empty recording with its folders")
    func removed() throws {
        try record(Self.exchange(), Self.exchange("POST"), Self.exchange("GET", "http://h/b/c"))
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        _ = map.add([[Self.exchange("POST")]])
        #expect(map.removed.map(\.description) == ["GET http://h/a", "GET http://h/b/c"])
        try map.save()
        #expect(files.count == 2, "\(files)")
        map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        #expect(map.isEmpty && map.isReplacing)
        try map.save()
        #expect(!FileManager.default.fileExists(atPath: folder.file("recorded").path))
    }

    @Test(
        "A 429 or a server's error doesn't replace a recorded success",
        arguments: [
            ([200], [503], true), ([201], [429], true), ([203], [500], true), ([404], [503], false),
            ([503], [503], false), ([200], [404], false), ([503, 200], [503, 200], false),
            ([503, 200], [503, 503], true),
        ]
    )
    func success(_ old: [Int], _ new: [Int], _ isLost: Bool) throws {
        func exchanges(_ statuses: [Int]) -> [RecordedExchange] { statuses.map { Self.exchange(status: $0) } }
        var map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        _ = map.add([exchanges(old)])
        try map.save()
        map = try RecordedMap(file, bodies: bodies, keepsEntries: false)
        let lost = exchanges(new).enumerated().filter { map.losesSuccess($1, after: $0) }
        #expect(lost.isEmpty != isLost)
    }

    @Test(
        "A recording that isn't a map any more, or needs a newer version, is an error that says what to do, and stays",
        arguments: [
            "", "[]", "{ \"http://h/a\": ", "{ \"http://h/a\": 1, \"http://h/a\": 2 }", "{ \"$version\": \"9.0\" }",
        ],
        [true, false]
    )
    func unreadable(_ text: String, keepsEntries: Bool) throws {
        try folder.write("recorded/ShopTests/Cart.signIn.json", text)
        let error = #expect(throws: Complaint.self) {
            try RecordedMap(file, bodies: bodies, keepsEntries: keepsEntries)
        }
        #expect(error?.description.contains("Delete “\(file.path)”, and record the test again.") == true)
        #expect(self.text == text)
    }

    @Test("If a body can't be written, nothing is lost, and nothing is left", arguments: [true, false])
    func unwritable(keepsEntries: Bool) throws {
        try record(Self.exchange())
        let before = (files, text)
        // Nothing is written through a link.
        let link = bodies.appendingPathComponent("k")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        #expect(throws: Complaint.self) {
            try record(
                Self.exchange("GET", "http://g/b", "new"),
                Self.exchange("GET", "http://k/c", "new"),
                keepsEntries: keepsEntries
            )
        }
        try FileManager.default.removeItem(at: link)
        #expect(files == before.0 && text == before.1)
        #expect(try response("http://h/a") == "200 body")
    }

    @Test("What a killed run left is removed by the next one")
    func killed() throws {
        try record(Self.exchange())
        let temporary = ".\(String(repeating: "0", count: 32)).edit"
        try folder.write("recorded/ShopTests/Cart.signIn/h/orphan.txt", "of a killed run")
        try folder.write("recorded/ShopTests/Cart.signIn/h/\(temporary)", "half")
        try record(Self.exchange("GET", "http://h/b", "b"))
        let names = ["a.txt", "b.txt"].map { "ShopTests/Cart.signIn/h/\($0)" }
        #expect(files == ["ShopTests/Cart.signIn.json"] + names)
    }

    @Test("What has opened the recording before reads all the old bytes")
    func oneStep() throws {
        try record(Self.exchange())
        let old = text
        let reader = try FileHandle(forReadingFrom: file)
        defer { try? reader.close() }
        try record(Self.exchange("GET", "http://h/b"))
        #expect(try reader.readToEnd() == Data(old.utf8))
    }

    @Test(
        "A response is recorded with the type that it had, without a charset that it hadn't",
        arguments: [
            ("text/html", #""charset": null"#), ("text/css", #""charset": null"#),
            ("text/html; charset=iso-8859-1", #""charset": "iso-8859-1""#),
            ("text/event-stream", #""secondsPerEvent": 0"#),
        ]
    )
    func type(_ type: String, _ field: String) throws {
        try record(Self.exchange("GET", "http://h/page", "<p>", type: type))
        #expect(text.contains(field), "\(text)")
    }

    @Test(
        "Members of a response that have a credential's name and a value are found",
        arguments: [
            (#"{ "token": "t" }"#, nil, ["token"]), (#"{ "token": "" }"#, nil, []), (#"{ "token": null }"#, nil, []),
            (#"{ "token": "redacted" }"#, nil, []), (#"{ "a": [{ "accessToken": 7 }] }"#, nil, ["a.accessToken"]),
            (#"{ "password": { "hash": "x", "salt": "" } }"#, nil, ["password.hash"]),
            (#"{ "hasPassword": true, "password": false, "name": "Ada" }"#, nil, []), (#"["token"]"#, nil, []),
            ("access_token=t&scope=all", "application/x-www-form-urlencoded", ["access_token"]),
            ("access_token=&scope=all", "application/x-www-form-urlencoded", []),
            ("access_token=redacted", "text/plain", []), ("access_token=t", "text/html", []),
            ("token", "text/plain", []),
        ] as [(String, String?, [String])]
    )
    func secrets(_ body: String, _ type: String?, _ names: [String]) {
        #expect(SecretMember.names(in: Data(body.utf8), type: type) == names)
    }
}
