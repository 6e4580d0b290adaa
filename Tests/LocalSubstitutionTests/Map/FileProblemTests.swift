import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The problems of files in a map", .values)
struct FileProblemTests {
    let outer: TemporaryFolder
    let folder: TemporaryFolder

    init() throws {
        outer = try TemporaryFolder(files: ["secret.txt", "secrets/a.txt"])
        folder = try TemporaryFolder(files: [
            "logo.png", "icons/star.svg", "Upper.txt", "sub/flat.css", "flat.js", "many/a.txt",
        ])
        try folder.makePipe("pipe")
        try folder.link("outside.txt", to: outer.file("secret.txt").path)
        try folder.link("outside", to: outer.file("secrets").path)
        try folder.link("dangling", to: "nothing")
        try folder.link("loop", to: "loop")
        try folder.link("inside.txt", to: "icons/star.svg")
        try folder.link("devnull", to: "/dev/null")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let file: String
        let key: String
        let kind: SubstitutionMap.Problem.Kind
        let messages: [String]

        init(
            _ file: String,
            key: String = "https://h/a",
            _ kind: SubstitutionMap.Problem.Kind,
            _ messages: String...
        ) {
            self.file = file
            self.key = key
            self.kind = kind
            self.messages = messages
        }

        var testDescription: String { "\(key) → \(file.debugDescription)" }
    }

    @Test(
        "Each problem names the entry and the fix",
        arguments: [
            // The name.
            Row("", .invalidFileName, "has no name"),
            Row("/etc/passwd", .invalidFileName, "“/etc/passwd” is an absolute path", "relative"),
            Row("../x", .invalidFileName, "“..”, which could leave the resources folder", "without “..”"),
            Row("a/../../x", .invalidFileName, "“..”"),
            Row("icons/../logo.png", .invalidFileName, "“..”"),
            Row("icons/..", .invalidFileName, "“..”"),
            Row("logo.png\u{0}.txt", .invalidFileName, "NUL"),
            Row("/\u{301}x", .invalidFileName, "is an absolute path"),
            Row("../\u{301}x", .invalidFileName, "“..”"),
            // Wildcards.
            Row("*.png", .invalidFileName, "1 *", "none"),
            Row("*/*.png", key: "https://h/*", .invalidFileName, "2 *", "only 1"),
            Row("*.png", key: "https://*/a", .invalidFileName, "1 *", "none"),
            Row(
                "nowhere/*.png",
                key: "https://h/*",
                .missingFile,
                "The folder “nowhere” doesn't exist. Add it, or correct the name."
            ),
            Row("img/icons/*", key: "https://h/*", .missingFile, "“img/icons” doesn't exist", "Did you mean “icons”"),
            Row("icon/*", key: "https://h/*", .missingFile, "The folder “icon” doesn't exist", "Did you mean “icons”"),
            Row("icons/star/x*", key: "https://h/*", .missingFile, "The folder “icons/star” doesn't exist"),
            Row("logo.png/*", key: "https://h/*", .notRegularFile, "The folder “logo.png” isn't a folder"),
            Row(
                "outside/*",
                key: "https://h/*",
                .outsideFolder,
                "The folder “outside” leads outside the resources folder. Replace the link with a copy."
            ),
            Row("../*", key: "https://h/*", .invalidFileName, "“..”"),
            Row("/*", key: "https://h/*", .invalidFileName, "absolute"),
            // The file.
            Row("zzz", .missingFile, "“zzz” doesn't exist", "Add it to"),
            Row("dangling", .missingFile, "doesn't exist"),
            Row("loop", .missingFile, "doesn't exist"),
            Row("logo.png/x", .missingFile, "doesn't exist"),
            Row(String(repeating: "a", count: 10_000), .missingFile, "doesn't exist"),
            Row(
                "outside.txt",
                .outsideFolder,
                "“outside.txt” leads outside the resources folder. Replace the link with a copy."
            ),
            Row("outside/a.txt", .outsideFolder, "“outside/a.txt” leads outside"),
            Row(
                "icons",
                .notRegularFile,
                "The file “icons” is a folder, not a regular file. To serve its files, end the key in * and write “icons/*” as the file."
            ),
            Row(
                "icons/",
                .notRegularFile,
                "not a regular file. To serve its files, end the key in * and write “icons/*” as the file."
            ),
            Row("pipe", .notRegularFile, "is a named pipe, not a regular file"),
            // What was meant.
            Row("lgo.png", .missingFile, "Did you mean “logo.png”"),
            Row("icons/stra.svg", .missingFile, "Did you mean “icons/star.svg”"),
            Row("star.svg", .missingFile, "Did you mean “icons/star.svg”"),
            Row("images/star.svg", .missingFile, "Did you mean “icons/star.svg”"),
            Row("lib/flat.js", .missingFile, "Did you mean “flat.js”?"),
        ]
    )
    func told(_ row: Row) throws {
        let text = String(decoding: try JSONEncoder().encode([row.key: row.file]), as: UTF8.self)
        let problems = folder.expectNoWaiting(for: "pipe") { folder.problems(text) }
        try #require(problems.count == 1, "\(problems)")
        #expect(problems[0].kind == row.kind)
        #expect(problems[0].key == row.key)
        #expect(problems[0].line == 1)
        for message in row.messages { #expect(problems[0].message.contains(message), "\(problems[0].message)") }
    }

    @Test("A device isn't a regular file, or is outside the folder, and is refused")
    func device() {
        #expect(folder.problems(#"{"https://h/a": "devnull"}"#).count == 1)
    }

    @Test(
        "These files have no problems",
        arguments: [
            ("https://h/a", "logo.png"), ("https://h/a", "icons/star.svg"), ("https://h/a", "inside.txt"),
            ("https://h/*", "logo.png"), ("https://h/*", "*"), ("https://h/*", "many/*"),
            ("https://h/*", "many/x*.png"),
            ("https://h/*/*", "icons/*"), ("https://h/*?v=*", "*-*"), ("https://h/a..b", "./logo.png"),
        ]
    )
    func right(key: String, file: String) {
        #expect(folder.problems("{\"\(key)\": \"\(file)\"}").isEmpty)
    }

    @Test(
        "A file that's never served isn't suggested",
        arguments: [
            ("many.json", "gone.json"), ("substitutions.json", "substitution.json"), ("map.json", "x/map.json"),
            ("map.json", "none.txt"),
        ]
    )
    func neverServed(map: String, file: String) throws {
        try folder.write(".none.txt", "hidden")
        try folder.write(map, "{\"https://h/a\": \"\(file)\"}")
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(contentsOf: folder.file(map))
        }
        let message = "The file “\(file)” doesn't exist. Add it to “\(folder.url.path)”, or correct the name."
        #expect(error.problems.map(\.message) == [message])
    }

    @Test("For a bundle's map, the advice includes how tools flatten folders", arguments: ["lib/flat.js", "nowhere/*"])
    func flattened(file: String) throws {
        try folder.write("substitutions.json", "{\"https://h/*\": \"\(file)\"}")
        let bundle = try #require(Bundle(url: folder.url))
        let error = try #require(throws: SubstitutionMapError.self) { try SubstitutionMap(bundle: bundle) }
        let advice = " Xcode groups and `.process` flatten folders. Use a folder reference or `.copy`."
        #expect(error.problems.map { $0.message.hasSuffix(advice) } == [true])
    }

    @Test("A name that only differs in letter case finds the file, if the disk distinguishes case")
    func letterCase() throws {
        let isCaseSensitive = FileStatus(path: folder.file("UPPER.TXT").path) == nil
        let problems = folder.problems(#"{"https://h/a": "upper.txt"}"#)
        #expect(problems.isEmpty != isCaseSensitive)
        if isCaseSensitive { #expect(problems.first?.message.contains("Did you mean “Upper.txt”") == true) }
    }

    @Test("The resources folder itself may be reached through a link")
    func linkedFolder() throws {
        try outer.link("linked", to: folder.url.path)
        let map = try SubstitutionMap(["https://h/a": "logo.png"], resources: outer.file("linked"))
        #expect(try map.answer("https://h/a")?.file == "logo.png")
    }

    @Test("A folder beside the resources folder with the same prefix is outside")
    func sibling() throws {
        try outer.makeFolder("res")
        try outer.write("resources-of-others/a.txt", "a")
        try outer.link("res/a.txt", to: "../resources-of-others/a.txt")
        let resources = outer.file("res")
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(["https://h/a": "a.txt"], resources: resources)
        }
        #expect(error.problems.map(\.kind) == [.outsideFolder])
    }

    @Test("A file that can't be read for lack of permission", .enabled(if: geteuid() != 0, "root may read every file"))
    func unreadable() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.file("logo.png").path)
        let problems = folder.problems(#"{"https://h/a": "logo.png"}"#)
        #expect(problems.map(\.kind) == [.unreadableFile])
        #expect(problems.first?.message.contains("“logo.png” can't be read: ") == true)
    }
}
