import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Missing files that are in another place", .values)
struct MisplacedFilesTests {
    private static let move = "but a folder Substitutes exists, so only that counts. Move the file"

    struct Row: Sendable, CustomTestStringConvertible {
        /// The files and folders beside the map. A folder's name ends in a slash.
        let files: [String]
        let key: String
        let name: String
        /// The end of the problem's message. `FOLDER` is the path of the map's folder.
        let message: String

        init(_ files: [String], key: String = "https://h/a", _ name: String, _ message: String) {
            (self.files, self.key, self.name, self.message) = (files, key, name, message)
        }

        var testDescription: String { "\(name) with \(files.joined(separator: ", "))" }
    }

    static let rows = [
        // In another place.
        Row(["Substitutes/", "a.txt"], "a.txt", "The file “a.txt” is beside the map, \(move)."),
        Row(["Substitutes/", "Resources/a.txt"], "a.txt", "The file “a.txt” is in the folder Resources, \(move)."),
        Row(["Substitutes/", "b/a.txt"], "b/a.txt", "The file “b/a.txt” is beside the map, \(move)."),
        Row(
            ["Resources/", "a.txt"],
            "a.txt",
            "The file “a.txt” is beside the map, but a folder Resources exists, so only that counts. Move the file."
        ),
        Row(
            ["Substitutes/", "icons/a.png"],
            key: "https://h/*",
            "icons/*",
            "The folder “icons” is beside the map, but a folder Substitutes exists, so only that counts. Move the folder."
        ),
        // A similar name matters less.
        Row(["Substitutes/b.txt", "a.txt"], "a.txt", "The file “a.txt” is beside the map, \(move)."),
        // The map itself is never a file of its own.
        Row(
            ["Substitutes/"],
            "map.json",
            "The file “map.json” doesn't exist. Add it to “FOLDER/Substitutes”, or correct the name."
        ),
        // A name with the folder's.
        Row(
            ["Substitutes/a.txt"],
            "Substitutes/a.txt",
            "The file “Substitutes/a.txt” doesn't exist. Names are relative to “FOLDER/Substitutes”. Write “a.txt”."
        ),
        Row(
            ["Substitutes/a.txt"],
            "Resources/a.txt",
            "The file “Resources/a.txt” doesn't exist. Names are relative to “FOLDER/Substitutes”. Write “a.txt”."
        ),
        Row(
            ["Resources/a.txt"],
            "Resources/a.txt",
            "The file “Resources/a.txt” doesn't exist. Names are relative to “FOLDER/Resources”. Write “a.txt”."
        ),
        Row(
            ["Resources/a.txt"],
            "Substitutes/a.txt",
            "The file “Substitutes/a.txt” doesn't exist. Names are relative to “FOLDER/Resources”. Write “a.txt”."
        ),
        Row(
            ["Substitutes/", "Resources/a.txt"],
            "Resources/a.txt",
            "The file “Resources/a.txt” is in the folder Resources, \(move), and write “a.txt”."
        ),
        Row(
            ["Substitutes/", "a.txt"],
            "Substitutes/a.txt",
            "The file “Substitutes/a.txt” is beside the map, \(move), and write “a.txt”."
        ),
        Row(
            ["Substitutes/b.txt"],
            "Substitutes/a.txt",
            "The file “Substitutes/a.txt” doesn't exist. Names are relative to “FOLDER/Substitutes”. "
                + "Write “a.txt”, and add the file."
        ),
        Row(
            ["a.txt"],
            "Substitutes/a.txt",
            "The file “Substitutes/a.txt” doesn't exist. Names are relative to “FOLDER”. Write “a.txt”."
        ),
        Row(
            ["Substitutes/icons/a.png"],
            key: "https://h/*",
            "Substitutes/icons/*",
            "The folder “Substitutes/icons” doesn't exist. Names are relative to “FOLDER/Substitutes”. Write “icons/*”."
        ),
        Row(
            ["Resources/a.png"],
            key: "https://h/*",
            "Resources/*",
            "The folder “Resources” doesn't exist. Names are relative to “FOLDER/Resources”. Write “*”."
        ),
        // Nothing is known.
        Row(["Substitutes/b.txt", "b.txt"], "bb.txt", "The file “bb.txt” doesn't exist. Did you mean “b.txt”?"),
        Row(
            ["Substitutes/b.txt"],
            "Substitutesx/b.txt",
            "The file “Substitutesx/b.txt” doesn't exist. Did you mean “b.txt”?"
        ),
    ]

    @Test("The message says where the file is, or how to write its name", arguments: rows)
    func message(_ row: Row) throws {
        let folder = try folder(with: row)
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: folder.file("map.json"))
        }
        #expect(error.problems.map(\.kind) == [.missingFile])
        #expect(error.problems.map(\.message) == [row.message.replacing("FOLDER", with: folder.url.path)])
        let lenient = try SubstitutionMap(contentsOf: folder.file("map.json"), invalidEntries: .skip)
        #expect(lenient.fileProblems() == error.problems)
    }

    @Test("For a folder that's named, only the name is known", arguments: rows)
    func named(_ row: Row) throws {
        let folder = try folder(with: row)
        let name =
            ["Substitutes", "Resources"].first { row.files.map { $0.prefix { $0 != "/" } }.contains($0[...]) } ?? ""
        let resources = folder.url.appendingPathComponent(name, isDirectory: true)
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: folder.file("map.json"), resources: resources)
        }
        #expect(!error.description.contains("so only that counts"))
        let isPrefixed = error.description.contains("Names are relative to “")
        #expect(
            isPrefixed == (row.message.contains("Names are relative to “") && !row.message.contains("add the file"))
        )
    }

    @Test("A name with the folder's is right if the folder has such a file")
    func inside() throws {
        let row = Row(["Substitutes/Substitutes/a.txt", "Substitutes/a.txt"], "Substitutes/a.txt", "")
        let folder = try folder(with: row)
        defer { withExtendedLifetime(folder) {} }
        let map = try SubstitutionMap(contentsOf: folder.file("map.json"))
        #expect(try map.answer("https://h/a")?.file == "Substitutes/a.txt")
    }

    @Test("A file that a name with the folder's means isn't unused")
    func unused() throws {
        let folder = try folder(with: Row(["Substitutes/a.txt", "Substitutes/b.txt"], "Substitutes/a.txt", ""))
        defer { withExtendedLifetime(folder) {} }
        let map = try SubstitutionMap(contentsOf: folder.file("map.json"), invalidEntries: .skip)
        #expect(map.filesLeftOut.map(\.text) == ["a.txt"])
    }

    private func folder(with row: Row) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for file in row.files {
            if file.hasSuffix("/") {
                try folder.makeFolder(String(file.dropLast()))
            } else {
                try folder.write(file, file)
            }
        }
        try folder.write("map.json", #"{"\#(row.key)": "\#(row.name)"}"#)
        return folder
    }
}
