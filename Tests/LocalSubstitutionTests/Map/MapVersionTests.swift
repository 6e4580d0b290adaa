import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The version of a map", .values)
struct MapVersionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(files: ["a.txt"]) }

    @Test("A map loads if its version isn't newer, and $version isn't an entry", arguments: ["1.0", "0.9", "0.0"])
    func loads(version: String) throws {
        let map = try folder.map(#"{ "https://h/a": "a.txt", "$version": "\#(version)" }"#)
        #expect(map.count == 1 && map.problems.isEmpty)
    }

    /// Members that are mistakes in this version: an unknown field, value, type and key, a missing file, and a default.
    private static let unknown = [
        #""https://h/1": { "newField": 1 }"#, #""https://h/2": { "use": "newUse" }"#, #""https://h/3": 5"#,
        ##""#new": null"##, #""$new": {}"#, #""https://h/4": "missing.txt""#, #""$defaults": { "newField": 1 }"#,
        #""https://h/5": null, "https://h/5": null"#,
    ]

    @Test(
        "A newer version is the only problem, wherever it stands, and .skip uses the entries that it understands",
        arguments: ["1.1", "2.0", "1.10", "10.0", "1.18446744073709551616", "18446744073709551616.0"],
        0...unknown.count
    )
    func newer(version: String, place: Int) throws {
        var members = Self.unknown
        members.insert("\"$version\": \"\(version)\"", at: place)
        let json = "{\n" + members.joined(separator: ",\n") + ",\n\"https://h/a\": \"a.txt\"\n}"
        let problems = folder.problems(json)
        let message =
            "“$version”: This map needs version \(version) or later; this is 1.0. "
            + "Update the package LocalSubstitutionCache."
        #expect(problems.map(\.description) == [message])
        #expect(problems.map(\.kind) == [.newerVersion] && problems.map(\.line) == [place + 2])
        let map = try folder.map(json, invalidEntries: .skip)
        #expect(map.problems == problems)
        #expect(try map.answer("https://h/a")?.file == "a.txt")
        #expect(try map.answer("https://h/1") == nil && map.answer("https://h/2") == nil)
    }

    @Test("If one of two versions is newer, that's the only problem")
    func twice() {
        let problems = folder.problems(#"{ "$version": "1.0", "$version": "1.1" }"#)
        #expect(problems.map(\.kind) == [.newerVersion])
    }

    @Test("Text that isn't JSON is the only problem, whatever the version")
    func syntax() {
        #expect(folder.problems(#"{ "$version": "1.1", "https://h/a": "#).map(\.kind) == [.syntax])
    }
}
