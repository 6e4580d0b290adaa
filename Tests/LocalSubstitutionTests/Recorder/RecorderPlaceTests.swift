import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Where a recorder's files are", .values)
struct RecorderPlaceTests {
    let fixture: RecorderFixture

    init() throws { fixture = try RecorderFixture() }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var files: [String] = []
        /// The text of a map that a person has written; `nil` for none.
        var map: String?
        /// The text of another map in the folder; `nil` for none.
        var other: String?
        /// The folder of the recorded files; empty for the recorder's own.
        let place: String

        private static let mine = #"{"https://x/mine": "mine.txt"}"#

        static let all = [
            Row(testDescription: "nothing", place: "Substitutes/"),
            Row(testDescription: "a map without files", map: #"{"https://x/no/*": null}"#, place: "Substitutes/"),
            Row(testDescription: "a folder Resources", files: ["Resources/x.txt"], place: "Resources/"),
            Row(
                testDescription: "files in Resources",
                files: ["Resources/mine.txt"],
                map: mine,
                place: "Resources/"
            ),
            Row(
                testDescription: "both folders",
                files: ["Substitutes/mine.txt", "Resources/Assets/x.txt"],
                map: mine,
                place: "Substitutes/"
            ),
            Row(testDescription: "files beside the map", files: ["mine.txt"], map: mine, place: ""),
            Row(
                testDescription: "a pattern's files beside the map",
                files: ["site/mine.txt"],
                map: #"{"https://x/*": "site/*"}"#,
                place: ""
            ),
            Row(
                testDescription: "another map's files beside the map",
                files: ["mine.txt"],
                other: mine,
                place: ""
            ),
            Row(
                testDescription: "another file that isn't a map",
                other: #"{"main": "a.js", "files": ["b.js"]}"#,
                place: "Substitutes/"
            ),
            Row(testDescription: "a file Resources", files: ["Resources"], place: "Substitutes/"),
        ]
    }

    @Test("They're where the map's files are, and no entry loses its own", arguments: Row.all)
    func place(_ row: Row) throws {
        for file in row.files { try fixture.folder.write(file, "mine") }
        if let map = row.map { try fixture.folder.write("substitutions.json", map) }
        if let other = row.other { try fixture.folder.write("other.json", other) }
        for body in ["old", "new"] {
            let recorder = try fixture.open()
            try #require(recorder.record("https://h/a", body).isRecorded)
            #expect(try recorder.body("https://h/a") == body)
            recorder.close()
            let cache = LocalSubstitutionCache(map: try fixture.map())
            #expect(cache.cachedResponse(for: try RecorderFixture.request("https://h/a"))?.data == Data(body.utf8))
        }
        let kept = ResourcesFolder(fixture.folder.url).names(limit: .max).filter { $0.contains("h/a") }
        #expect(kept.count == 1 && kept.allSatisfy { $0.hasPrefix("\(row.place)h/") }, "\(kept)")
        for file in row.files { #expect(try String(contentsOf: fixture.folder.file(file), encoding: .utf8) == "mine") }
        #expect(row.map == nil || fixture.mapText.contains("https://x/"))
        if row.other?.contains("https") == true {
            #expect(try SubstitutionMap(contentsOf: fixture.folder.file("other.json")).count == 1)
        }
        let isMade = !row.files.contains { $0.hasPrefix("Substitutes/") }
        #expect(
            !isMade
                || (FileStatus(path: fixture.folder.file("Substitutes").path) != nil) == (row.place == "Substitutes/")
        )
    }

    @Test("If the folder with all of a recorder's files was removed, it's made again")
    func removed() throws {
        try fixture.recordAndClose("https://h/a", "one")
        try fixture.folder.remove("Substitutes")
        try fixture.recordAndClose("https://h/b", "two")
        #expect(fixture.files == ["h/b.txt"])
        #expect(try fixture.map().count == 1)
    }

    @Test("The oldest files beside the map go, too, and only the recorder's own")
    func limit() throws {
        try fixture.folder.write("mine.txt", String(repeating: "x", count: 2_000))
        try fixture.folder.write("substitutions.json", #"{"https://x/mine": "mine.txt"}"#)
        let recorder = try fixture.open(limit: 100)
        for number in 0..<30 { try recorder.record("https://h/\(number)", "12345") }
        recorder.close()
        let names = ResourcesFolder(fixture.folder.url).names(limit: .max).filter { $0.hasSuffix(".txt") }
        #expect(names.count == 21)
        #expect(names.contains("mine.txt") && names.contains("h/29.txt") && !names.contains("h/0.txt"))
        #expect(try fixture.map().count == 21)
    }

    @Test(
        "Beside the map, no host's folder has the name of a resources folder",
        arguments: ["substitutes", "resources"]
    )
    func host(_ host: String) throws {
        try fixture.folder.write("mine.txt", "mine")
        try fixture.folder.write("substitutions.json", #"{"https://x/mine": "mine.txt"}"#)
        for _ in 0..<2 {
            let recorder = try fixture.open()
            #expect(try recorder.record("https://\(host)/a", "a").reason == nil)
            recorder.close()
        }
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for url in ["https://\(host)/a", "https://x/mine"] {
            #expect(cache.cachedResponse(for: try RecorderFixture.request(url)) != nil)
        }
    }

    @Test("The recorder's own folder may be a link when the files are beside the map")
    func linked() throws {
        try fixture.folder.write("kept/mine.txt", "mine")
        try fixture.folder.write("kept/substitutions.json", #"{"https://x/mine": "mine.txt"}"#)
        try fixture.folder.link("link", to: "kept")
        let recorder = try SubstitutionRecorder(folder: fixture.folder.url.appendingPathComponent("link"))
        #expect(try recorder.record("https://h/a", "one").isRecorded)
        recorder.close()
        #expect(FileStatus(path: fixture.folder.file("kept/h/a.txt").path) != nil)
    }

    @Test(
        "A file where a folder must be is named",
        arguments: [
            ("a", "PATH/a” is a file, not a folder. Name another folder, or move the file."),
            ("a/b/c", "PATH/a/b/c” can't be used, since “PATH/a” is a file."),
            ("b", "PATH/b” can't be used, since “PATH/b/Substitutes” is a file."),
        ]
    )
    func file(name: String, message: String) throws {
        let path = fixture.folder.url.standardizedFileURL.path
        try fixture.folder.write("a", "mine")
        try fixture.folder.write("b/Substitutes", "mine")
        let folder = fixture.folder.url.appendingPathComponent(name)
        let error = #expect(throws: SubstitutionRecorderError.self) { try SubstitutionRecorder(folder: folder) }
        #expect(error?.kind == .unwritable)
        let expected = message.replacing("PATH", with: path)
        #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
        #expect(try String(contentsOf: fixture.folder.file("a"), encoding: .utf8) == "mine")
    }

    @Test("A folder with the name in another letter case is refused, and nothing changes")
    func letterCase() throws {
        try fixture.folder.makeFolder("substitutes")
        let error = #expect(throws: SubstitutionRecorderError.self) { try fixture.open() }
        #expect(error?.kind == .unwritable)
        #expect(error?.description.contains("since letter case matters. Rename it to Substitutes.") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.url.path) == ["substitutes"])
    }
}
