import Foundation
import Testing

@testable import LocalSubstitution

@Suite("The resources folder of a map")
struct ResourcesFolderOfMapTests {
    let folder: TemporaryFolder
    let map: URL

    init() throws {
        folder = try TemporaryFolder()
        map = try folder.write("substitutions.json", #"{"https://h/a": "a.txt", "https://h/b": {"status": 404}}"#)
    }

    @Test("is the folder Resources beside the map")
    func beside() throws {
        try folder.write("Resources/a.txt", "a")
        let found = try SubstitutionMap(contentsOf: map).substitution(for: #require(URL(string: "https://h/a")))
        #expect(found?.fileURL?.path.hasSuffix("/Resources/a.txt") == true)
    }

    @Test("is the one given in code, even if there is one beside the map")
    func given() throws {
        try folder.write("Resources/a.txt", "a")
        try folder.write("Others/a.txt", "a")
        let loaded = try SubstitutionMap(contentsOf: map, resources: folder.url.appendingPathComponent("Others"))
        let found = try loaded.substitution(for: #require(URL(string: "https://h/a")))
        #expect(found?.fileURL?.path.hasSuffix("/Others/a.txt") == true)
    }

    @Test("is missed where there is none, or a file in its place", arguments: [false, true])
    func none(isFile: Bool) throws {
        if isFile { try folder.write("Resources", "no folder") }
        let error = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: map) }
        #expect(error.problems.map(\.kind) == [.noResources])
        #expect(error.description.contains("Resources"))
        #expect(error.description.contains("--resources"))
    }

    @Test(
        "is named in the error when the given one is missing or no folder",
        arguments: ["Missing", "substitutions.json"]
    )
    func missing(name: String) throws {
        let given = folder.file(name)
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: map, resources: given)
        }
        #expect(error.problems.first?.kind == .noResources)
        #expect(error.problems.first?.message.contains("“\(given.standardizedFileURL.path)”") == true)
    }

    @Test("may be missing where a map is not strict: entries without a file work")
    func lenient() throws {
        let loaded = try SubstitutionMap(contentsOf: map, strict: false)
        #expect(loaded.problems.map(\.kind) == [.noResources])
        #expect(try loaded.answer("https://h/a") == nil)
        #expect(try loaded.answer("https://h/b") == .init(key: "https://h/b", file: nil))
    }
}
