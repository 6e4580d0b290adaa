import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The resources folder of a map", .values)
struct ResourcesFolderOfMapTests {
    let folder: TemporaryFolder
    let map: URL

    init() throws {
        folder = try TemporaryFolder()
        map = try folder.write("substitutions.json", #"{"https://h/a": "a.txt", "https://h/b": {"status": 404}}"#)
    }

    @Test(
        "It's Substitutes beside the map, or else Resources, or else the map's own folder",
        arguments: [
            (["Substitutes/a.txt"], "Substitutes/a.txt"),
            (["Resources/a.txt"], "Resources/a.txt"),
            (["a.txt"], "a.txt"),
            (["Substitutes/a.txt", "Resources/a.txt", "a.txt"], "Substitutes/a.txt"),
            (["Resources/a.txt", "a.txt"], "Resources/a.txt"),
            // Only folders count.
            (["Substitutes", "Resources/a.txt"], "Resources/a.txt"),
            (["Substitutes", "Resources", "a.txt"], "a.txt"),
        ]
    )
    func beside(files: [String], expected: String) throws {
        for file in files { try folder.write(file, file) }
        let loaded = try SubstitutionMap(contentsOf: map)
        let found = try loaded.substitution(for: #require(URL(string: "https://h/a")))
        #expect(found?.fileURL?.standardizedFileURL == folder.file(expected).standardizedFileURL)
    }

    @Test("A bundle's map finds Substitutes, too")
    func bundled() throws {
        try folder.write("Substitutes/a.txt", "a")
        let loaded = try SubstitutionMap(bundle: #require(Bundle(url: folder.url)))
        #expect(loaded.resources?.path.hasSuffix("/Substitutes") == true)
    }

    @Test("It may be a link to a folder")
    func link() throws {
        try folder.write("elsewhere/a.txt", "a")
        try folder.write("a.txt", "another")
        try folder.link("Substitutes", to: "elsewhere")
        #expect(try LocalSubstitutionCache(contentsOf: map).cachedResponse(for: request("https://h/a"))?.text == "a")
    }

    @Test("A map that's loaded again finds a folder that was made meanwhile")
    func reloaded() throws {
        try folder.write("a.txt", "beside")
        let cache = try LocalSubstitutionCache(contentsOf: map)
        #expect(cache.cachedResponse(for: try request("https://h/a"))?.text == "beside")
        try folder.write("Substitutes/a.txt", "in Substitutes")
        try folder.write("substitutions.json", #"{"https://h/a": "a.txt"}"#)
        #expect(cache.cachedResponse(for: try request("https://h/a"))?.text == "in Substitutes")
    }

    @Test(
        "Letter case must match, even on a disk that ignores it",
        arguments: [("substitutes", "Substitutes"), ("resources", "Resources"), ("SUBSTITUTES", "Substitutes")]
    )
    func letterCase(name: String, right: String) throws {
        try folder.write("\(name)/a.txt", "a")
        let error = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: map) }
        let path = folder.url.appendingPathComponent(name).path
        #expect(
            error.problems.map(\.message) == [
                "The folder “\(path)” isn't used, since letter case matters. Rename it to \(right).",
                "The file “a.txt” is in the folder \(name), but letter case matters. Rename that folder to \(right).",
            ]
        )
        #expect(error.problems.map(\.kind) == [.noResources, .missingFile])
        let lenient = try SubstitutionMap(contentsOf: map, invalidEntries: .skip)
        #expect(lenient.fileProblems() == error.problems)

        // Only that folder is a problem, and only if an entry has a file.
        try folder.write("a.txt", "a")
        let alone = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: map) }
        #expect(alone.problems.map(\.kind) == [.noResources])
        try folder.write("other.json", #"{"https://h/b": {"status": 404}}"#)
        #expect(try SubstitutionMap(contentsOf: folder.file("other.json")).count == 1)
        #expect(try SubstitutionMap(contentsOf: map, resources: folder.file(name)).count == 2)
    }

    @Test("A folder with another letter case is for something else if there's one with the right name")
    func otherCase() throws {
        try folder.write("resources/x.txt", "x")
        try folder.write("Substitutes/a.txt", "a")
        #expect(try SubstitutionMap(contentsOf: map).count == 2)
    }

    @Test("It's the one given in code, even if there's one beside the map")
    func given() throws {
        try folder.write("Resources/a.txt", "a")
        try folder.write("Others/a.txt", "a")
        let loaded = try SubstitutionMap(contentsOf: map, resources: folder.url.appendingPathComponent("Others"))
        let found = try loaded.substitution(for: #require(URL(string: "https://h/a")))
        #expect(found?.fileURL?.path.hasSuffix("/Others/a.txt") == true)
    }

    @Test("It's the map's own folder even if a symbolic link names it")
    func linked() throws {
        try folder.link("link", to: ".")
        let json = Data(#"{"https://h/a": "substitutions.json"}"#.utf8)
        for resources in [folder.url, folder.file("link")] {
            let error = try #require(throws: SubstitutionMapError.self) {
                try SubstitutionMap(json: json, of: map, resources: resources)
            }
            #expect(error.description.contains("never served"))
        }
    }

    @Test(
        "The map's own folder never serves the map or hidden files",
        arguments: ["own.json", "link.json", ".env", ".git/config"]
    )
    func unserved(name: String) throws {
        let own = folder.file("own.json")
        try folder.write(".env", "secret")
        try folder.write(".git/config", "secret")
        try folder.write("own.json", #"{ "https://h/a": "\#(name)" }"#)
        try FileManager.default.createSymbolicLink(at: folder.file("link.json"), withDestinationURL: own)
        let error = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: own) }
        #expect(error.problems.map(\.kind) == [.invalidFileName])
        #expect(error.description.contains("never served"))

        try folder.write("own.json", #"{ "https://h/*": "*" }"#)
        let cache = try LocalSubstitutionCache(contentsOf: own)
        let events = HeardEvents(of: cache)
        #expect(cache.cachedResponse(for: try request("https://h/\(name)")) == nil)
        #expect(!events.kinds.contains("fault"))
    }

    @Test(
        "The map's own folder never serves a hidden file through a link",
        arguments: [("link.txt", ".secret"), ("link.txt", ".git/config"), ("link/config", ".git")]
    )
    func hiddenBehindLink(name: String, target: String) throws {
        try folder.write(".secret", "secret")
        try folder.write(".git/config", "secret")
        try folder.link(name.hasPrefix("link/") ? "link" : name, to: folder.file(target).path)
        let own = try folder.write("own.json", #"{ "https://h/a": "\#(name)" }"#)
        let error = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(contentsOf: own) }
        #expect(error.problems.map(\.kind) == [.invalidFileName])

        try folder.write("own.json", #"{ "https://h/*": "*" }"#)
        let cache = try LocalSubstitutionCache(contentsOf: own)
        #expect(cache.cachedResponse(for: try request("https://h/\(name)")) == nil)

        let named = LocalSubstitutionCache(map: try SubstitutionMap(contentsOf: own, resources: folder.url))
        #expect(named.cachedResponse(for: try request("https://h/\(name)"))?.text == "secret", "a folder that's named")
    }

    @Test("A map without files doesn't need one")
    func notNeeded() throws {
        let map = try SubstitutionMap(json: Data(#"{ "https://h/a": { "status": 404 }, "https://h/b": null }"#.utf8))
        #expect(map.count == 2)
        #expect(throws: SubstitutionMapError.self) {
            try SubstitutionMap(json: Data(#"{ "https://h/a": "a.txt" }"#.utf8))
        }
    }

    @Test("Without one, a file's problem says how to pass one and, in code, how to write a body")
    func needed() throws {
        let text = #"{ "https://h/a": "a.txt" }"#
        let inFile = #expect(throws: SubstitutionMapError.self) { try SubstitutionMap(json: Data(text.utf8)) }
        let inCode = #expect(throws: SubstitutionMapError.self) { try SubstitutionMap(["https://h/a": "a.txt"]) }
        let problem = "The file “a.txt” can't be found, since the map has no resources folder."
        let fix = "ass its folder as `resources:` to the map's initializer or the test's trait"
        #expect(inFile?.problems.map(\.message) == ["\(problem) P\(fix), or as --resources to the command."])
        let body = "If you mean a body, write .text(…). If you mean a file, p"
        #expect(inCode?.problems.map(\.message) == ["\(problem) \(body)\(fix)."])
    }

    @Test(
        "If the given folder is missing or isn't a folder, the error names it",
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

    @Test("It may be missing if the map isn't strict, and entries without a file work")
    func lenient() throws {
        let loaded = try SubstitutionMap(contentsOf: map, invalidEntries: .skip)
        #expect(loaded.problems.isEmpty)
        #expect(loaded.fileProblems().map(\.kind) == [.missingFile])
        #expect(try loaded.answer("https://h/a") == nil)
        #expect(try loaded.answer("https://h/b") == .init(key: "https://h/b", file: nil))
    }
}
