import Foundation
import Testing

@testable import LocalSubstitution

@Suite("The problems of the files that a map names")
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
        "are told with the entry, and what to do",
        arguments: [
            // The name.
            Row("", .invalidFileName, "is empty"),
            Row("/etc/passwd", .invalidFileName, "“/etc/passwd” is an absolute path", "relative"),
            Row("../x", .invalidFileName, "“..”", "inside the resources folder"),
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
                "the folder “nowhere” does not exist",
                "Xcode groups"
            ),
            Row("img/icons/*", key: "https://h/*", .missingFile, "“img/icons” does not exist", "did you mean “icons”"),
            Row("icon/*", key: "https://h/*", .missingFile, "the folder “icon” does not exist", "did you mean “icons”"),
            Row("icons/star/x*", key: "https://h/*", .missingFile, "the folder “icons/star” does not exist"),
            Row("logo.png/*", key: "https://h/*", .notRegularFile, "the folder “logo.png” is not a folder"),
            Row(
                "outside/*",
                key: "https://h/*",
                .outsideFolder,
                "the folder “outside” is outside the resources folder"
            ),
            Row("../*", key: "https://h/*", .invalidFileName, "“..”"),
            Row("/*", key: "https://h/*", .invalidFileName, "absolute"),
            // The file.
            Row("zzz", .missingFile, "“zzz” does not exist", "add it to"),
            Row("dangling", .missingFile, "does not exist"),
            Row("loop", .missingFile, "does not exist"),
            Row("logo.png/x", .missingFile, "does not exist"),
            Row(String(repeating: "a", count: 10_000), .missingFile, "does not exist"),
            Row("outside.txt", .outsideFolder, "“outside.txt” is outside the resources folder"),
            Row("outside/a.txt", .outsideFolder, "“outside/a.txt” is outside"),
            Row(
                "icons",
                .notRegularFile,
                "the file “icons” is a folder, not a regular file: to serve its files, end the key in * and write “icons/*”"
            ),
            Row(
                "icons/",
                .notRegularFile,
                "not a regular file: to serve its files, end the key in * and write “icons/*”"
            ),
            Row("pipe", .notRegularFile, "is a named pipe, not a regular file"),
            // What was meant.
            Row("lgo.png", .missingFile, "did you mean “logo.png”"),
            Row("icons/stra.svg", .missingFile, "did you mean “icons/star.svg”"),
            Row("star.svg", .missingFile, "did you mean “icons/star.svg”"),
            Row("images/star.svg", .missingFile, "did you mean “icons/star.svg”"),
            Row("lib/flat.js", .missingFile, "“flat.js” does", "Xcode groups", "`.process`", "flatten"),
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

    @Test("a device is not a regular file, or is outside the folder: it is refused")
    func device() {
        #expect(folder.problems(#"{"https://h/a": "devnull"}"#).count == 1)
    }

    @Test(
        "there are none with these",
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

    @Test("a name that differs from the file's only in letter case finds it, where the disk tells them apart")
    func letterCase() throws {
        let isCaseSensitive = FileStatus(path: folder.file("UPPER.TXT").path) == nil
        let problems = folder.problems(#"{"https://h/a": "upper.txt"}"#)
        #expect(problems.isEmpty != isCaseSensitive)
        if isCaseSensitive { #expect(problems.first?.message.contains("did you mean “Upper.txt”") == true) }
    }

    @Test("the resources folder may itself be reached through a link")
    func linkedFolder() throws {
        try outer.link("linked", to: folder.url.path)
        let map = try SubstitutionMap(files: ["https://h/a": "logo.png"], resources: outer.file("linked"))
        #expect(try map.answer("https://h/a")?.file == "logo.png")
    }

    @Test("a folder beside the resources folder whose name begins the same is outside")
    func sibling() throws {
        try outer.makeFolder("res")
        try outer.write("resources-of-others/a.txt", "a")
        try outer.link("res/a.txt", to: "../resources-of-others/a.txt")
        let resources = outer.file("res")
        let error = try #require(throws: SubstitutionMapError.self) {
            try SubstitutionMap(files: ["https://h/a": "a.txt"], resources: resources)
        }
        #expect(error.problems.map(\.kind) == [.outsideFolder])
    }

    @Test("a file that may not be read", .enabled(if: geteuid() != 0, "root may read every file"))
    func unreadable() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.file("logo.png").path)
        let problems = folder.problems(#"{"https://h/a": "logo.png"}"#)
        #expect(problems.map(\.kind) == [.unreadableFile])
        #expect(problems.first?.message.contains("“logo.png” can't be read: ") == true)
    }
}
