import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("All problems of a map are found at once", .values)
struct EveryProblemTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(files: ["a.txt"])
    }

    static let json = """
        {
          "https://h/1": "missing.txt",
          "htp://h/2": "a.txt",
          "https://h/3": {
            "file": "a.txt",
            "status": 600,
            "headers": {
              "X": "1",
              "Content-Length": "1"
            },
            "fiel": 1
          },
          "https://h/4": "a.txt",
          "https://h/4": "a.txt",
          "https://h/5/*": "*/*",
          "$defaults": {"use": "never"},
          "https://h/6": "a.txt"
        }
        """

    @Test("Problems are in the order of their lines")
    func lines() {
        let problems = folder.problems(Self.json)
        #expect(problems.map(\.line) == [2, 3, 6, 9, 11, 14, 15, 16])
        #expect(
            problems.map(\.kind) == [
                .missingFile, .invalidKey, .invalidValue, .invalidHeader, .unknownField, .duplicate, .invalidFileName,
                .invalidValue,
            ]
        )
        #expect(problems.map(\.key).contains(nil) == false)
    }

    @Test("Problems are printed on one line each, with the file's name, line and key")
    func description() throws {
        let file = try folder.write("map.json", Self.json)
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: file, resources: folder.url)
        }
        let lines = error.description.split(separator: "\n")
        #expect(lines.count == error.problems.count)
        #expect(
            lines.first?.hasPrefix("map.json:2: error: “https://h/1”: The file “missing.txt” doesn't exist") == true
        )
        #expect(error.localizedDescription == error.description)
    }

    @Test("If invalid entries are skipped, the others work, and files are checked when they're requested")
    func skip() throws {
        let map = try folder.map(Self.json, invalidEntries: .skip)
        let all = folder.problems(Self.json)
        #expect(map.problems == all.filter { $0.kind != .missingFile })
        #expect(map.fileProblems() == all.filter { $0.kind == .missingFile })
        #expect(map.count == 3)
        #expect(try map.answer("https://h/6")?.file == "a.txt")
        #expect(try map.answer("https://h/4")?.file == "a.txt")
        for url in ["https://h/1", "https://h/3", "https://h/5/a.txt"] { #expect(try map.answer(url) == nil) }
    }

    @Test("Problems of a map in code have no lines")
    func dictionary() throws {
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(["b": "a.txt", "https://h/": "b.txt"], resources: folder.url)
        }
        #expect(error.problems.map(\.key) == ["b", "https://h/"])
        #expect(error.problems.map(\.kind) == [.invalidKey, .missingFile])
        #expect(error.problems.allSatisfy { $0.line == nil })
        #expect(error.description.hasPrefix("map: error: “b”: "))
    }

    @Test(
        "An entry's key, fields and file are all checked, whichever of them is wrong",
        arguments: [
            (#"{"htp://h": "b.txt"}"#, [.invalidKey, .missingFile]),
            (#"{"htp://h": {}}"#, [.noFile, .invalidKey]),
            (#"{"htp://h": 5}"#, [.wrongType, .invalidKey]),
            (#"{"htp://h": {"file": "b.txt", "status": 1}}"#, [.invalidValue, .invalidKey, .missingFile]),
            (#"{"https://h": {"file": "b.txt", "status": 1, "x": 1}}"#, [.invalidValue, .unknownField, .missingFile]),
            (#"{"https://h": {"file": "b.txt", "enabled": false}}"#, [.missingFile]),
            // Superfluous entries.
            (
                #"{"https://h": "a.txt", "https://h": {"file": "b.txt", "x": 1}}"#,
                [.unknownField, .missingFile, .duplicate]
            ),
            (#"{"https://h": "b.txt", "https://H": "a.txt"}"#, [.missingFile, .duplicate]),
            (#"{"https://h": "a.txt", "https://H": "b.txt"}"#, [.missingFile, .duplicate]),
            (#"{"https://h": {"status": 1}, "https://H": {"status": 2}}"#, [.invalidValue, .invalidValue, .duplicate]),
            (#"{"https://h/*": "b.txt", "https://H/*": "a.txt"}"#, [.missingFile, .duplicate]),
            (#"{"https://h/*": "a.txt", "https://H/*": "b.txt"}"#, [.missingFile, .duplicate]),
        ] as [(String, [SubstitutionMap.Problem.Kind])]
    )
    func allOfAnEntry(json: String, kinds: [SubstitutionMap.Problem.Kind]) {
        #expect(folder.problems(json).map(\.kind) == kinds)
    }
}
