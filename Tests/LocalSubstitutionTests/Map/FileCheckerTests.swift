import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Checking the files of a large map", .values)
struct FileCheckerTests {
    @Test("A file is checked once, however many entries name it")
    func once() throws {
        let folder = try TemporaryFolder(files: ["a.txt"])
        let checker = FileChecker(ResourcesFolder(folder.url), looksAtFiles: true)
        #expect(checker.problem(of: FileName(text: "a.txt"), wildcardsInKey: 0) == nil)
        #expect(checker.problem(of: FileName(text: "b.txt"), wildcardsInKey: 0)?.kind == .missingFile)
        try folder.remove("a.txt")
        try folder.write("b.txt", "b")
        // A second check would notice this.
        #expect(checker.problem(of: FileName(text: "a.txt"), wildcardsInKey: 1) == nil)
        #expect(checker.problem(of: FileName(text: "b.txt"), wildcardsInKey: 0)?.kind == .missingFile)
    }

    @Test("The folder of a name with wildcards is checked once too")
    func folderOnce() throws {
        let folder = try TemporaryFolder(files: ["img/a.txt"])
        let checker = FileChecker(ResourcesFolder(folder.url), looksAtFiles: true)
        #expect(checker.problem(of: FileName(text: "img/*"), wildcardsInKey: 1) == nil)
        try folder.remove("img")
        #expect(checker.problem(of: FileName(text: "img/*"), wildcardsInKey: 1) == nil)
    }

    @Test("A name's wildcards are counted separately for each key")
    func wildcards() throws {
        let folder = try TemporaryFolder()
        let checker = FileChecker(ResourcesFolder(folder.url), looksAtFiles: true)
        #expect(checker.problem(of: FileName(text: "*"), wildcardsInKey: 1) == nil)
        #expect(checker.problem(of: FileName(text: "*"), wildcardsInKey: 0)?.kind == .invalidFileName)
        #expect(checker.problem(of: FileName(text: "*"), wildcardsInKey: 2) == nil)
    }

    @Test("Entries share the values they don't set")
    func shared() throws {
        let folder = try TemporaryFolder(files: ["a.txt"])
        let map = try folder.map(#"{"https://h/a": "a.txt", "https://h/b": "a.txt", "https://h/c/*": "a.txt"}"#)
        let options = map.storage.index.entries.map { ObjectIdentifier($0.options) }
        #expect(Set(options).count == 1)
    }

    @Test("100,000 entries that name 100 files load fast", .timeLimit(.minutes(5)))
    func large() throws {
        let folder = try TemporaryFolder(files: (0..<100).map { "\($0).txt" })
        var json = "{"
        for number in 0..<100_000 {
            json += "\"https://cdn.example.com/some/folder/file-\(number).txt\": \"\(number % 100).txt\",\n"
        }
        json += "\"https://h/\": null}"
        var loaded: SubstitutionMap?
        let time = try ContinuousClock().measure { loaded = try folder.map(json) }
        let map = try #require(loaded)
        #expect(map.count == 100_001)
        #expect(try map.answer("https://cdn.example.com/some/folder/file-54321.txt")?.file == "21.txt")
        // A debug build takes a few seconds on two busy cores; the benchmarks measure.
        #expect(time < .seconds(30))
    }

    @Test("A large map whose files are all missing loads fast too", .timeLimit(.minutes(5)))
    func largeAndWrong() throws {
        let folder = try TemporaryFolder(files: (0..<100).map { "\($0).txt" })
        let members = (0..<10_000).map { "\"https://h/\($0)\": \"missing-\($0).txt\"" }
        let problems = folder.problems("{\(members.joined(separator: ",\n"))}")
        #expect(problems.count == 10_000)
        #expect(problems.map(\.line) == (1...10_000).map { $0 })
    }

    @Test("100 missing files among 2,000 are reported quickly, each with a suggestion", .timeLimit(.minutes(5)))
    func manyNames() throws {
        let folder = try TemporaryFolder()
        for number in 0..<2_000 {
            let name = "\(String(number &* 2_654_435_761, radix: 36))-picture-of-an-item-\(number).png"
            #expect(FileManager.default.createFile(atPath: folder.file(name).path, contents: nil))
        }
        let members = (0..<100).map { number in
            let name = "\(String(number &* 2_654_435_761, radix: 36))-pitcure-of-an-item-\(number).png"
            return "\"https://h/\(number)\": \"\(name)\""
        }
        var problems: [SubstitutionMap.Problem] = []
        let time = processorTime { problems = folder.problems("{\(members.joined(separator: ","))}") }
        #expect(problems.count == 100)
        #expect(problems.allSatisfy { $0.message.hasSuffix("-\($0.key?.dropFirst(10) ?? "").png”?") }, "\(problems)")
        // A debug build takes half a second; a release build takes 10 ms.
        #expect(time < 3)
    }
}
