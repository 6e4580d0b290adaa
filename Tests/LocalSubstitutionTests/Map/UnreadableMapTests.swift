import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Maps that can't be read or aren't JSON objects", .values)
struct UnreadableMapTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Returns the error of loading a file, which must be the same whether strict or not.
    private func error(_ file: URL) throws -> SubstitutionMapError {
        let strict = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: file, resources: folder.url)
        }
        let lenient = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: file, resources: folder.url, invalidEntries: .skip)
        }
        #expect(strict.problems == lenient.problems)
        return strict
    }

    struct Text: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let place: String
        let message: String

        init(_ name: String, _ bytes: some Sequence<UInt8>, _ place: String, _ message: String) {
            self.name = name
            self.bytes = Array(bytes)
            self.place = place
            self.message = message
        }

        var testDescription: String { name }
    }

    @Test(
        "They're rejected with file, line and column",
        arguments: [
            Text("empty", [], "1:1", "is empty"),
            Text("only a byte order mark", [0xEF, 0xBB, 0xBF], "1:1", "is empty"),
            Text("not JSON", "hello".utf8, "1:1", "Begin it with {."),
            Text("not JSON later on", "{\n  \"https://h/a\" = 1\n}".utf8, "2:17", "needs a colon"),
            Text("truncated", "{\"https://h/a\": \"a.txt\"".utf8, "1:24", "needs a comma or }"),
            Text("truncated in a string", "{\n\"https://h/a".utf8, "2:13", "ends inside a string"),
            Text("after a byte order mark", "\u{FEFF}{x".utf8, "1:2", "needs a key"),
            Text(
                "with a comma after the last entry",
                "{\"https://h/a\": null,\n}".utf8,
                "1:21",
                "The map has a comma before }. Remove it."
            ),
            Text(
                "that begins with a comment",
                "// a\n{}".utf8,
                "1:1",
                "The map has a comment, which JSON doesn't allow"
            ),
            Text("an array", "[{}]".utf8, "1:1", "Begin it with {."),
            Text("a string", "\n \"a\"".utf8, "2:2", "Begin it with {."),
            Text("a property list", "<?xml version=\"1.0\"?>".utf8, "1:1", "Begin it with {."),
            Text(
                "UTF-16 with a mark, little end first",
                "\u{FEFF}{}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
                "1:1",
                "Save it as UTF-8"
            ),
            Text(
                "UTF-16 with a mark, big end first",
                "\u{FEFF}{}".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
                "1:1",
                "Save it as UTF-8"
            ),
            Text(
                "UTF-16 without a mark, little end first",
                "{\"".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
                "1:1",
                "Save it as UTF-8"
            ),
            Text(
                "UTF-16 without a mark, big end first",
                "{\"".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
                "1:1",
                "Save it as UTF-8"
            ),
            Text("Latin-1", [0x7B, 0x22, 0x61, 0xE9, 0x22], "1:4", "Save it as UTF-8"),
            Text("all zeros", [UInt8](repeating: 0, count: 100), "1:1", "UTF-8"),
        ]
    )
    func refused(_ text: Text) throws {
        let error = try error(folder.write("map.json", Data(text.bytes)))
        #expect(error.problems.count == 1)
        #expect(error.description.hasPrefix("map.json:\(text.place): error: "), "\(error)")
        #expect(error.description.contains(text.message), "\(error)")
    }

    @Test(
        "100 MB of brackets exhaust neither the stack nor time",
        .timeLimit(.minutes(5)),
        arguments: ["", "{\"a\":"]
    )
    func brackets(before: String) throws {
        let json = Data(before.utf8) + Data(repeating: UInt8(ascii: "["), count: 100_000_000)
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(json: json, resources: folder.url, invalidEntries: .skip)
        }
        #expect(error.problems.first?.line == 1)
        #expect(error.problems.first?.column == (before.isEmpty ? 1 : before.utf8.count + 1 + JSONCursor.deepest))
    }

    @Test("A file that doesn't exist is named")
    func missing() throws {
        let error = try error(folder.file("map.json"))
        #expect(error.problems.map(\.kind) == [.unreadableMap])
        #expect(error.description.contains("doesn't exist"))
        #expect(error.description.contains(folder.file("map.json").path))
    }

    @Test(
        "The error for a folder names it, and a file in it",
        arguments: [
            (["books.json", "a.txt", ".a.json", "a/a.json", "c.json"], "Name a file in it, such as “books.json”."),
            (["books.json", "substitutions.json"], "Name a file in it, such as “substitutions.json”."),
            (["a.txt", ".a.json", "a/a.json"], "Use the path of an existing map."),
        ]
    )
    func isFolder(files: [String], advice: String) throws {
        for file in files { try folder.write("maps/\(file)", "{}") }
        let description = try error(folder.file("maps")).description
        #expect(description.hasSuffix("/maps” is a folder, not a regular file. \(advice)"))
    }

    @Test("A named pipe is never waited for")
    func isPipe() throws {
        try folder.makePipe("map.json")
        let refusal = try folder.expectNoWaiting(for: "map.json") { try error(folder.file("map.json")) }
        #expect(refusal.description.contains("is a named pipe, not a regular file. Use the path of an existing map."))
    }

    @Test(
        "A file that can't be read for lack of permission is named",
        .enabled(if: geteuid() != 0, "root may read every file")
    )
    func unreadable() throws {
        let file = try folder.write("map.json", "{}")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
        #expect(try error(file).description.contains("can't be read: "))
    }
}
