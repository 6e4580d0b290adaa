import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("Archives imported into an existing map", .values)
struct ArchiveMergeTests {
    static let map = #"""
        {
          "$defaults": {"headers": {"X-A": "b"}},

          "https://h.com/z": { "file": "mine.txt", "comment": "\u00e4", "enabled": true },
            "https://h.com/*":   "any/*",
          "https://h.com/mine": "mine.txt"}

        """#

    private func fixture() throws -> ArchiveFixture {
        let fixture = try ArchiveFixture()
        try fixture.folder.write("substitutions.json", Self.map)
        try fixture.folder.write("Resources/mine.txt", "mine")
        try fixture.folder.makeFolder("Resources/any")
        return fixture
    }

    @Test("Every other entry keeps its bytes and its place")
    func untouched() throws {
        let fixture = try fixture()
        try fixture.take([Recording(url: "https://h.com/b"), Recording(url: "https://h.com/a")])
        let added = #""https://h.com/a": "h.com/a.txt""# + ",\n  " + #""https://h.com/b": "h.com/b.txt""#
        #expect(try fixture.mapText == Self.map.replacing("\"mine.txt\"}", with: "\"mine.txt\",\n  \(added)}"))
    }

    @Test("Importing the same archive again changes nothing")
    func again() throws {
        let fixture = try fixture()
        let recordings = [Recording(), Recording(url: "https://H.com:443/b?y=1&x=*"), Recording(url: "http://h.com/a")]
        #expect(try fixture.take(recordings).map(\.file?.change) == [.new, .new, .new])
        let before = try fixture.contents()
        let items = try fixture.take(recordings)
        #expect(items.map(\.file?.change) == [.unchanged, .unchanged, .unchanged])
        #expect(try fixture.contents() == before)
    }

    @Test("An existing entry stays unless it's to be replaced")
    func force() throws {
        let fixture = try fixture()
        try fixture.take([Recording(text: "old")])
        let before = try fixture.contents()
        let new = [Recording(text: "new"), Recording(url: "https://h.com/mine", text: "theirs")]
        #expect(
            try fixture.take(new).map(\.left) == [
                .alreadyInMap(key: "https://h.com/a"), .alreadyInMap(key: "https://h.com/mine"),
            ]
        )
        #expect(try fixture.contents() == before)

        #expect(try fixture.take(new, replacing: true).map(\.file?.change) == [.replaced, .replaced])
        #expect(try fixture.served("https://h.com/a")?.file == "h.com/a.txt")
        #expect(try fixture.served("https://h.com/a")?.body == Data("new".utf8))
        #expect(try fixture.served("https://h.com/mine")?.body == Data("theirs".utf8))
        // It belongs to another entry too.
        #expect(try fixture.contents()["Resources/mine.txt"] == Data("mine".utf8))
        #expect(
            try fixture.mapText.contains(
                #""https://h.com/z": { "file": "mine.txt", "comment": "\u00e4", "enabled": true }"#
            )
        )
        #expect(try fixture.map().count == 4)
    }

    @Test(
        "An entry that serves the same bytes differently is another one",
        arguments: [
            Recording(mimeType: "text/css"), Recording(status: 404), Recording(headers: [("X-Frame-Options", "DENY")]),
        ]
    )
    func sameBytes(recording: Recording) throws {
        let fixture = try fixture()
        try fixture.take([Recording()])
        let before = try fixture.contents()
        let selection = try HTTPArchive.Selection(statuses: [200, 404])
        #expect(try fixture.take([recording], selection).map(\.left) == [.alreadyInMap(key: "https://h.com/a")])
        #expect(try fixture.contents() == before)

        #expect(try fixture.take([recording], selection, replacing: true).map(\.file?.change) == [.replaced])
        let substitution = try #require(try fixture.map().match(NormalizedURL("https://h.com/a")).substitution)
        #expect(substitution.status == recording.status)
        #expect(substitution.mimeType == recording.mimeType)
        #expect(substitution.headers["X-Frame-Options"] == recording.headers.first?.1)
        #expect(substitution.fileName == "h.com/a.txt")
        #expect(try fixture.take([recording], selection).map(\.file?.change) == [.unchanged])
        #expect(try Set(fixture.contents().keys) == Set(before.keys))
    }

    @Test("An entry that a person wrote differently stays if its answer is the same")
    func sameAnswer() throws {
        let fixture = try ArchiveFixture()
        let map = #"{"https://h.com/a": {"file": "a.css", "mimeType": "text/plain", "use": "whenOffline"}}"#
        try fixture.folder.write("substitutions.json", map)
        try fixture.folder.write("Resources/a.css", "hello")
        #expect(try fixture.take([Recording()], replacing: true).map(\.file?.change) == [.unchanged])
        #expect(try fixture.mapText == map)
    }

    @Test("A file that a pattern serves too isn't overwritten")
    func fileOfPattern() throws {
        let fixture = try fixture()
        try fixture.folder.write("Resources/any/own.txt", "own")
        let map = Self.map.replacing(#""any/*","#, with: #""any/*", "https://h.com/own": "any/own.txt","#)
        try fixture.folder.write("substitutions.json", map)
        let new = [Recording(url: "https://h.com/own")]
        #expect(try fixture.take(new, replacing: true).map(\.file?.name) == ["h.com/own.txt"])
        #expect(try fixture.contents()["Resources/any/own.txt"] == Data("own".utf8))
    }

    /// Another map in the folder, and whether it names the file `h.com/a.txt`, or may name it.
    static let otherMaps = [
        (#"{"https://x/a": "h.com/a.txt"}"#, true), (#"{"$version": "9.0", "https://x/a": {"body": "?"}}"#, true),
        (#"{"https://x/a": "b.txt", "https://x/a": "c.txt"}"#, true), (#"{"https://x/a": "b.txt""#, true),
        (#"{"https://x/a": "b.txt"}"#, false), (#"["h.com/a.txt"]"#, false), ("7", false),
    ]

    @Test("A file that another map in the folder names, or may name, isn't overwritten", arguments: otherMaps)
    func fileOfOtherMap(_ other: String, stays: Bool) throws {
        let fixture = try ArchiveFixture()
        try fixture.take([Recording(text: "old")])
        try fixture.folder.write("other.json", other)
        let names = try fixture.take([Recording(text: "new")], replacing: true).map(\.file?.name)
        #expect((names != ["h.com/a.txt"]) == stays)
        #expect(try fixture.contents()["Resources/h.com/a.txt"] == Data((stays ? "old" : "new").utf8))
    }

    @Test("Nor is one that only the other map names", arguments: otherMaps)
    func fileOfOnlyOtherMap(_ other: String, stays: Bool) throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.write("Resources/a.txt", "old")
        try fixture.folder.write("other.json", other.replacing("h.com/", with: ""))
        let mine = try fixture.folder.write("mine/a.txt", "new")
        var map = try fixture.edited()
        let isAdded = (try? map.add("https://h.com/a", file: mine, replacing: true)) != nil
        #expect(isAdded != stays)
        if isAdded { try map.save() }
        #expect(try fixture.contents()["Resources/a.txt"] == Data((stays ? "old" : "new").utf8))
    }

    @Test("null is never replaced")
    func null() throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.write("substitutions.json", #"{ "https://h.com/a": null }"#)
        let items = try fixture.take([Recording()], replacing: true)
        #expect(items.map(\.left) == [.excludedByMap(key: "https://h.com/a")])
        #expect(try fixture.mapText == #"{ "https://h.com/a": null }"#)
    }

    @Test("A file with other content is never overwritten, and one with the same content is used")
    func files() throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.write("Resources/h.com/a.txt", "somebody's")
        try fixture.folder.write("Resources/h.com/b.txt", "hello")
        for isReplacing in [false, true] {
            try fixture.take([Recording(), Recording(url: "https://h.com/b")], replacing: isReplacing)
            #expect(try fixture.contents()["Resources/h.com/a.txt"] == Data("somebody's".utf8))
            #expect(try fixture.served("https://h.com/a")?.body == Data("hello".utf8))
            #expect(try fixture.served("https://h.com/b")?.file == "h.com/b.txt")
            #expect(try fixture.contents().count == 4)
        }
    }

    @Test("URLs whose files would have the same name get several files")
    func clashes() throws {
        let fixture = try ArchiveFixture()
        let urls = [
            "https://h.com/a", "http://h.com/a", "https://h.com/A", "https://h.com/a.txt", "https://h.com/a.txt/b",
        ]
        try fixture.take(urls.map { Recording(url: $0, text: $0) })
        for url in urls { #expect(try fixture.served(url)?.body == Data(url.utf8)) }
    }

    @Test(
        "No URL leads out of the folder, and a * isn't a wildcard",
        arguments: [
            "https://h.com/../../x", "https://h.com/%2e%2e/%2E%2E/x", "https://h.com/..%2F..%2Fx",
            "https://h.com/..%5Cx",
            "https://../x", "https://h.com/.git/config", "https://h.com/a%00b", "https://h.com//etc/passwd",
            "https://h.com/a*b/*", "https://h.com/*?*=*", "https://h.com/CON",
            "https://h.com/" + String(repeating: "a/", count: 600),
        ]
    )
    func hostileURLs(url: String) throws {
        let fixture = try ArchiveFixture()
        try fixture.take([Recording(url: url, text: "x")])
        let names = try fixture.contents().keys.filter { $0 != "substitutions.json" }
        #expect(names.count == 1)
        #expect(names.allSatisfy { $0.hasPrefix("Resources/") && !$0.contains("/.") && !$0.contains("*") })
        #expect(try fixture.map().match(NormalizedURL(url)).substitution != nil)
        #expect(try fixture.map().match(NormalizedURL("https://h.com/a1b/2")).winner == nil)
    }

    @Test("A map with problems is left unchanged, and all problems are reported")
    func problems() throws {
        let fixture = try ArchiveFixture()
        for map in [
            #"{ "https://h.com/a": "gone.txt" }"#, "{", "[]", #"{"https://h.com/a": null, "https://h.com/a": null}"#,
        ] {
            try fixture.folder.write("substitutions.json", map)
            #expect(throws: SubstitutionMapError.self) { try fixture.take([Recording(url: "https://h.com/b")]) }
            #expect(try fixture.contents() == ["substitutions.json": Data(map.utf8)])
        }
    }

    // MARK: Failures and obstacles

    @Test("Files are written first and then the map, in one step")
    func order() throws {
        let fixture = try fixture()
        var map = try fixture.edited()
        _ = try map.take(HTTPArchive(Recording.archive([Recording()])), HTTPArchive.Selection())
        #expect(try fixture.mapText == Self.map)
        #expect(try fixture.contents()["Resources/h.com/a.txt"] == Data("hello".utf8))
        try map.save()
        #expect(try fixture.served("https://h.com/a")?.body == Data("hello".utf8))
    }

    @Test("What can't be written is left out with its reason, and the rest is imported")
    func failingWrite() throws {
        let fixture = try fixture()
        // Nothing is written through a link.
        try fixture.folder.makeFolder("outside")
        try fixture.folder.link("Resources/k.com", to: "../outside")
        let items = try fixture.take([
            Recording(), Recording(url: "https://k.com/x/a", text: "earlier"), Recording(url: "https://k.com/x/a"),
        ])
        #expect(items.map(\.file?.change) == [.new, nil, nil])
        #expect(items.map { $0.left?.kind } == [nil, "unwritable", "unwritable"])
        #expect(items.last?.left?.description.contains("“k.com/x/a.txt” can't be written: ") == true)
        #expect(try fixture.served("https://h.com/a")?.body == Data("hello".utf8))
        #expect(try fixture.map().match(NormalizedURL("https://k.com/x/a")).winner == nil)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.file("outside").path).isEmpty)
    }

    @Test("A file behind a link in the folder is used if it has the same body")
    func linkedFile() throws {
        let fixture = try fixture()
        try fixture.folder.write("Resources/real/x/a.txt", "hello")
        try fixture.folder.link("Resources/k.com", to: "real")
        let items = try fixture.take([Recording(url: "https://k.com/x/a")])
        #expect(items.map(\.file?.name) == ["k.com/x/a.txt"])
        #expect(try fixture.served("https://k.com/x/a")?.body == Data("hello".utf8))
    }

    @Test("Nothing is written through a resources folder that's a link")
    func linkedResources() throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.makeFolder("outside")
        try fixture.folder.link("Resources", to: "outside")
        let items = try fixture.take([Recording()])
        #expect(items.first?.left?.description.contains("Resources” is a symbolic link") == true)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.file("outside").path).isEmpty)
    }

    @Test(
        "Files are only replaced when the map is saved, and if it can't be, nothing changes",
        arguments: [false, true]
    )
    func replacedLast(isSaved: Bool) throws {
        let fixture = try fixture()
        try fixture.take([Recording(text: "old")])
        let before = try fixture.contents()
        let archive = try HTTPArchive(Recording.archive([Recording(text: "new"), Recording(url: "https://h.com/b")]))
        var map = try fixture.edited()
        let items = try map.take(archive, HTTPArchive.Selection(), replacing: true).items
        #expect(items.map(\.file?.change) == [.replaced, .new])
        #expect(try fixture.served("https://h.com/a")?.body == Data("old".utf8))
        if isSaved {
            try map.save()
            #expect(try fixture.served("https://h.com/a")?.body == Data("new".utf8))
            #expect(try fixture.contents().count == before.count + 1)
            map.removeFiles()
            #expect(try fixture.served("https://h.com/b")?.body == Data("hello".utf8))
        } else {
            map.removeFiles()
            #expect(try fixture.contents() == before)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.resources.path + "/h.com")
        #expect(names.sorted() == (isSaved ? ["a.txt", "b.txt"] : ["a.txt"]))
    }

    @Test("If a file is in a folder's place, another name is used")
    func fileInTheWay() throws {
        let fixture = try fixture()
        try fixture.folder.write("Resources/k.com", "a file")
        try fixture.take([Recording(url: "https://k.com/x/a")])
        #expect(try fixture.contents()["Resources/k.com"] == Data("a file".utf8))
        #expect(try fixture.served("https://k.com/x/a")?.body == Data("hello".utf8))
    }

    @Test("A map that was changed meanwhile isn't overwritten")
    func changedMeanwhile() throws {
        let fixture = try fixture()
        var map = try fixture.edited()
        _ = try map.take(HTTPArchive(Recording.archive([Recording()])), HTTPArchive.Selection())
        try fixture.folder.write("substitutions.json", "{}")
        #expect(throws: Complaint.self) { try map.save() }
        #expect(try fixture.mapText == "{}")
    }

    @Test("A map that's a symbolic link stays one")
    func link() throws {
        let fixture = try ArchiveFixture()
        try fixture.folder.write("real/map.json", "{}")
        try fixture.folder.link("substitutions.json", to: "real/map.json")
        try fixture.take([Recording()])
        #expect(try fixture.served("https://h.com/a")?.body == Data("hello".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: fixture.mapFile.path) == "real/map.json")
    }
}
