import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("The methods of an archive's requests", .values)
struct ArchiveMethodTests {
    private let fixture: ArchiveFixture

    init() throws { fixture = try ArchiveFixture() }

    /// The methods of one URL's requests, in order, and why each isn't imported; `nil` for those that are.
    static let rows: [(recorded: [String], selected: [String], left: [Complaint?])] = [
        (["GET"], [], [nil]),
        (["POST"], ["*"], [nil]),
        (["post"], ["get", "Post"], [nil]),
        (["GET", "POST"], ["GET"], [nil, .unselectedMethod("POST")]), (["POST"], [], [nil]),
        (["GET", "POST"], ["POST"], [.unselectedMethod("GET"), nil]),
        (["GET", "POST"], ["GET", "POST"], [nil, nil]),
        (["POST", "GET", "POST"], ["*"], [.superseded, nil, nil]),
        (["POST", "PUT", "GET"], ["*"], [nil, nil, nil]),
        (["HEAD", "GET"], ["*"], [.headOfGet, nil]),
        (["POST", "HEAD"], ["*"], [nil, nil]),
        (["PROPFIND"], ["*"], [nil]),
        (["*", "GET"], ["*"], [.noMethod, nil]),
    ]

    @Test("Methods are selected, and each has the last of its responses", arguments: rows)
    func taken(_ row: (recorded: [String], selected: [String], left: [Complaint?])) throws {
        let recordings = row.recorded.enumerated().map { Recording(method: $1, text: "\($0)") }
        let selection = try HTTPArchive.Selection(methods: row.selected)
        let items = try fixture.take(recordings, selection, onlyLast: true)
        #expect(items.map(\.left) == row.left)
        let taken = row.left.indices.filter { row.left[$0] == nil }
        for number in taken {
            let method = row.recorded[number].uppercased()
            #expect(try methods(method) == [method])
            #expect(try fixture.served("https://h.com/a", method: method)?.body == Data("\(number)".utf8))
            #expect(items[number].file?.change == .new)
        }
        #expect(try fixture.mapText.contains("methods") == (taken.map { row.recorded[$0] } != ["GET"]))
        let again = try fixture.take(recordings, selection, onlyLast: true)
        #expect(taken.allSatisfy { again[$0].file?.change == .unchanged })
        #expect(again.map(\.left) == row.left)
    }

    @Test("Requests with different bodies have their own responses, and the last of those with the same body counts")
    func bodies() throws {
        let (json, form) = ("application/json", "application/x-www-form-urlencoded")
        let requests = [
            (#"{"query": "Me"}"#, json), (#"{"query": "Search", "first": 5}"#, json), (#"{"query": "Search"}"#, json),
            ("user=ada&password=p", form), ("user=ada&password=p&page=2", form), (#"{ "query":"Me" }"#, json),
            ("text", ""),
        ]
        let recordings = requests.enumerated().map { Recording(method: "POST", text: "\($0)", request: $1) }
        let selection = try HTTPArchive.Selection(methods: ["*"])
        let items = try fixture.take(recordings, selection, onlyLast: true)
        #expect(items.map(\.left) == [.superseded, nil, nil, nil, nil, nil, nil])
        let sent = requests.map(\.0) + [#"{"query": "Search", "first": 5, "x": 1}"#, "user=ada&password=other", "else"]
        let answers = try sent.map { try fixture.served("https://h.com/a", method: "POST", request: $0)?.body }
        #expect(
            answers.map { $0.map { String(decoding: $0, as: UTF8.self) } } == [
                "5", "1", "2", "3", "4", "5", "6", "1", "3", "6",
            ]
        )
        #expect(try !fixture.mapText.contains("password=p"))
        let text = try fixture.mapText
        let again = try fixture.take(recordings, selection, onlyLast: true)
        #expect(again.compactMap(\.file?.change) == Array(repeating: .unchanged, count: 6))
        let reversed = try fixture.take(recordings.reversed(), selection, replacing: true, onlyLast: true)
        #expect(reversed.compactMap(\.file).count == 6)
        #expect(try fixture.mapText.components(separatedBy: "when").count == text.components(separatedBy: "when").count)
    }

    /// The fields of forms, the same form as a browser sends it, and a form that's another one; `nil` if every form counts
    /// as the same.
    static let forms: [(fields: [(String, String)], same: String, other: String?)] = [
        ([("x", "1"), ("y", "2")], "x=1&y=2", "x=1&y=3"), ([("x", "3")], "x=3", "x=4"),
        ([("q", "a b&c=ü"), ("e", "")], "q=a+b%26c%3D%C3%BC&e=", "q=a+b&e="), ([("e", "")], "e=", "e=1"),
        ([("user", "ada"), ("password", "s3cr3t")], "user=ada&password=other", "user=eva&password=s3cr3t"),
        ([("page", "1"), ("access_token", "s3cr3t")], "page=1&access_token=other", "page=2&access_token=s3cr3t"),
        ([("q", "a+b")], "q=a%2Bb", "q=a+b"), ([("q", "100%")], "q=100%25", "q=100"),
        ([("a", "1"), ("a", "2")], "a=1&a=2", "a=2&a=1"), ([("a.b-c_d", "~")], "a.b-c_d=%7E", "a.b-c_d=~"),
        ([("q", "\"{}\"")], "q=%22%7B%7D%22", "q={}"), ([("q", "a\r\nb")], "q=a%0D%0Ab", "q=a%0Ab"),
        ([("items[]", "1"), ("items[]", "2")], "items%5B%5D=1&items%5B%5D=2", "items%5B%5D=1"),
        ([("q", "漢字 😀")], "q=%E6%BC%A2%E5%AD%97+%F0%9F%98%80", "q=%E6%BC%A2"), ([("q", "a*b")], "q=a*b", nil),
    ]

    @Test("A form of which the archive has only the fields is compared, too", arguments: forms)
    func fields(_ fields: [(String, String)], same: String, other: String?) throws {
        let recordings = [
            Recording(method: "POST", text: "form", params: fields),
            Recording(method: "POST", text: "other", params: [("other", "1")]),
        ]
        #expect(try fixture.take(recordings).allSatisfy { $0.left == nil })
        let sent = [same, other ?? "else=1", "other=1"]
        let answers = try sent.map { try fixture.served("https://h.com/a", method: "POST", request: $0)?.body }
        let found = answers.map { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(found == ["form", other == nil ? "form" : nil, "other"])
        #expect(try !fixture.mapText.contains("s3cr3t"))
    }

    @Test("Methods become alternatives of the URL's entry, with GET first")
    func alternatives() throws {
        let methods = ["DELETE", "POST", "GET"]
        let digests = methods.map { Digest.hexadecimal(of: Data($0.utf8)).prefix(8) }
        try fixture.take(methods.map { Recording(method: $0, text: $0) }, HTTPArchive.Selection(methods: ["*"]))
        #expect(
            try fixture.mapText == """
                {
                  "https://h.com/a": [
                    "h.com/a.txt",
                    { "file": "h.com/a-\(digests[0]).txt", "methods": ["DELETE"] },
                    { "file": "h.com/a-\(digests[1]).txt", "methods": ["POST"] }
                  ]
                }

                """
        )
    }

    @Test(
        "Methods are answered whatever the map's $defaults say",
        arguments: [
            #""methods": ["POST"]"#, #""ignoreQuery": true"#, #""enabled": false"#, #""use": "untilUpdated""#,
            #""use": "whenOffline", "timeout": 3, "enabled": false, "ignoreQuery": ["a"]"#,
        ]
    )
    func defaults(_ fields: String) throws {
        try fixture.folder.write("substitutions.json", #"{ "$defaults": { \#(fields) } }"#)
        let recordings = ["GET", "POST"].map { Recording(method: $0, text: $0) }
        for change in [EditedMap.ResponseFile.Change.new, .unchanged] {
            let items = try fixture.take(recordings, HTTPArchive.Selection(methods: ["*"]))
            #expect(items.map(\.file?.change) == [change, change])
        }
        for method in ["GET", "POST"] {
            #expect(try fixture.served("https://h.com/a", method: method)?.body == Data(method.utf8))
        }
        #expect(try fixture.served("https://h.com/a?b=1") == nil)
    }

    @Test(
        "Methods in the map stay unless the entry is to be replaced",
        arguments: [
            (["1", "9"], [.unchanged, .replaced]), (["9", "2"], [.replaced, .unchanged]),
            (["2", "1"], [.replaced, .replaced]), (["9", "1"], [.replaced, .replaced]),
            (["9", "9"], [.replaced, .replaced]),
        ] as [([String], [EditedMap.ResponseFile.Change])]
    )
    func replaced(_ texts: [String], _ changes: [EditedMap.ResponseFile.Change]) throws {
        let selection = try HTTPArchive.Selection(methods: ["*"])
        let recordings = { (texts: [String]) in zip(["GET", "POST"], texts).map { Recording(method: $0, text: $1) } }
        try fixture.take(recordings(["1", "2"]), selection)
        let before = try fixture.contents()
        let left = try fixture.take(recordings(texts), selection).map(\.left)
        #expect(left == changes.map { $0 == .unchanged ? nil : .alreadyInMap(key: "https://h.com/a") })
        #expect(try fixture.contents() == before)

        #expect(try fixture.take(recordings(texts), selection, replacing: true).map(\.file?.change) == changes)
        for (method, text) in zip(["GET", "POST"], texts) {
            #expect(try fixture.served("https://h.com/a", method: method)?.body == Data(text.utf8))
        }
        #expect(try Set(fixture.contents().keys) == Set(before.keys))
    }

    @Test(
        "Methods count when an entry is compared with a response, including those of $defaults",
        arguments: [
            (#"{ "$defaults": { "methods": ["POST"] }, "https://h.com/a": "a.txt" }"#, "POST", true),
            (#"{ "https://h.com/a": { "file": "a.txt", "methods": ["GET", "POST"] } }"#, "POST", true),
            (#"{ "https://h.com/a": { "file": "a.txt", "methods": ["GET", "POST"] } }"#, "GET", true),
            (#"{ "https://h.com/a": "a.txt" }"#, "POST", false),
            (#"{ "https://h.com/a": { "file": "a.txt", "methods": ["POST"] } }"#, "GET", false),
        ]
    )
    func compared(map: String, method: String, isSame: Bool) throws {
        try fixture.folder.write("substitutions.json", map)
        try fixture.folder.write("Resources/a.txt", "hello")
        let selection = try HTTPArchive.Selection(methods: ["*"])
        let item = try #require(try fixture.take([Recording(method: method)], selection).first)
        #expect(item.file?.change == (isSame ? .unchanged : nil))
        #expect(item.left == (isSame ? nil : .alreadyInMap(key: "https://h.com/a")))
        #expect(try fixture.mapText == map)
        guard !isSame else { return }
        let replaced = try #require(try fixture.take([Recording(method: method)], selection, replacing: true).first)
        #expect(replaced.file?.change == .replaced)
        #expect(try methods(method) == [method])
    }

    /// Returns the methods of the entry that answers a method.
    private func methods(_ method: String) throws -> [String]? {
        try fixture.map().match(NormalizedURL("https://h.com/a"), for: RequestFacts(method: method)).winner?.options
            .methods
    }
}
