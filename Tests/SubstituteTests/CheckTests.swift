import Foundation
import TestSupport
import Testing

@Suite("substitute check", .sessions)
struct CheckTests {
    /// The JSON that `--json` prints for a map.
    private struct Report: Decodable {
        struct Finding: Decodable {
            let severity: String
            let kind: String
            let key: String?
            let file: String
            let line: Int?
            let column: Int?
            let message: String
            let keys: [String]?
        }

        let map: String
        let entries: Int
        let errors: Int
        let warnings: Int
        let findings: [Finding]
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("It finds nothing wrong with a correct map")
    func clean() async throws {
        try folder.writeMap(
            #"{ "https://h.example/a": "a.txt", "https://h.example/site/*": "site/*", "https://h.example/site/x/*": null }"#,
            files: ["a.txt": "hello", "site/b.css": "b {}"]
        )
        let run = try await folder.substitute("check")
        #expect(run.status == 0)
        #expect(run.output == "3 entries in use, 0 errors, 0 warnings\n")

        let report = try await folder.substitute("check", "--json").json(Report.self)
        #expect(report.map == folder.path("substitutions.json"))
        #expect((report.entries, report.errors, report.warnings) == (3, 0, 0))
        #expect(report.findings.isEmpty)
    }

    // MARK: Errors

    /// An entry with a mistake, and the expected report.
    struct Mistake: CustomTestStringConvertible, Sendable {
        /// `nil` if any will do.
        let key: String?
        let value: String
        let kind: String
        let message: String

        private init(_ key: String?, _ value: String, _ kind: String, _ message: String) {
            self.key = key
            self.value = value
            self.kind = kind
            self.message = message
        }

        init(_ key: String, value: String, _ kind: String, _ message: String) {
            self.init(key, value, kind, message)
        }

        init(key: String, _ kind: String, _ message: String) {
            self.init(key, #""a.txt""#, kind, message)
        }

        init(file: String, _ kind: String, _ message: String) {
            self.init(nil, "\"\(file)\"", kind, message)
        }

        init(field: String, _ kind: String, _ message: String) {
            self.init(nil, #"{ "file": "a.txt", \#(field) }"#, kind, message)
        }

        func key(onLine line: Int) -> String { key ?? "https://h.example/\(line)" }

        var testDescription: String { "\(key ?? "…"): \(value)" }

        static let all = [
            Mistake("$default", value: "{}", "reservedKey", "The key is reserved. Did you mean “$defaults”?"),
            Mistake(
                "$other",
                value: "{}",
                "reservedKey",
                "Only $schema, $version and $defaults may begin with $. Remove the key, or write a URL instead."
            ),
            Mistake("$defaults", value: "7", "wrongType", "must be an object"),
            Mistake(key: "htp://x", "invalidKey", "scheme “htp”"),
            Mistake(key: "//x/y", "invalidKey", "has no scheme. Begin it with https:// or http://."),
            Mistake(key: "https://", "invalidKey", "has no host"),
            Mistake(key: "https://u:p@h/", "invalidKey", "has user info"),
            Mistake(key: "https://h/#f", "invalidKey", "has a fragment"),
            Mistake(
                key: "https://a*b.com/",
                "invalidKey",
                "with a * in the wrong place. Use * as the whole host, or before a domain"
            ),
            Mistake(
                key: "ftp://h/x",
                "invalidKey",
                "has the scheme “ftp”, which is never substituted. Use http or https."
            ),
            Mistake(key: "", "invalidKey", "is empty. Write an absolute URL"),
            Mistake(key: "https://ok.example/a", "duplicate", "The key is given twice, first on line 2. Keep one."),
            Mistake(
                key: "HTTPS://OK.example:443/%61",
                "duplicate",
                "The key is another spelling of “https://ok.example/a” on line 2. Keep one of the entries."
            ),
            Mistake(
                "https://h.example/number",
                value: "5",
                "wrongType",
                "The value must be a file name, an object, a list of alternatives, or null"
            ),
            Mistake("https://h.example/nothing", value: "{}", "noFile", "The answer is missing. Add “file”"),

            Mistake(file: "../x", "invalidFileName", "contains “..”, which could leave"),
            Mistake(file: "/etc/passwd", "invalidFileName", "is an absolute path"),
            Mistake(file: "a/../../x", "invalidFileName", "contains “..”, which could leave"),
            Mistake(file: "a\\u0000b", "invalidFileName", "has a NUL byte"),
            Mistake(file: "", "invalidFileName", "The file “” has no name"),
            Mistake(
                file: "*.txt",
                "invalidFileName",
                "has 1 *, but the key has none after its host. Remove the extra *"
            ),
            Mistake(
                "https://h.example/p/*",
                value: #""*/*""#,
                "invalidFileName",
                "but the key has only 1 after its host"
            ),
            Mistake("https://h.example/q/*", value: #""none/*""#, "missingFile", "The folder “none” doesn't exist"),
            Mistake(file: "b.txt", "missingFile", "The file “b.txt” doesn't exist. Did you mean “a.txt”?"),
            Mistake(
                file: "sub/a.txt",
                "missingFile",
                "Did you mean “a.txt”?"
            ),
            Mistake(file: "nothing-like-it.bin", "missingFile", "Resources”, or correct the name"),
            Mistake(
                file: "link",
                "outsideFolder",
                "The file “link” leads outside the resources folder. Replace the link with a copy."
            ),
            Mistake(file: "sub", "notRegularFile", "The file “sub” is a folder, not a regular file"),
            Mistake(file: "pipe", "notRegularFile", "The file “pipe” is a named pipe, not a regular file"),

            Mistake(field: #""statis": 404"#, "unknownField", "The field “statis” is unknown. Did you mean “status”?"),
            Mistake(field: #""zzzzzzzz": 1"#, "unknownField", "Use one of the fields file, mimeType, charset"),
            Mistake(field: #""status": 600"#, "invalidValue", "“status” can't be 600. Use a number from 200 to 599."),
            Mistake(field: #""status": "404""#, "wrongType", "“status” must be a number"),
            Mistake(field: #""file": "a.txt""#, "duplicate", "The field “file” is given twice. Keep one."),
            Mistake(field: #""mimeType": "png""#, "invalidValue", "“png” isn't a MIME type"),
            Mistake(field: #""charset": "u t""#, "invalidValue", "“u t” isn't a charset"),
            Mistake(field: #""use": "whenOfline""#, "invalidValue", "Did you mean “whenOffline”?"),
            Mistake(field: #""timeout": 0"#, "invalidValue", "“timeout” must be more than 0"),
            Mistake(field: #""methods": []"#, "invalidValue", "“methods” is empty. Name at least one"),
            Mistake(field: #""ignoreQuery": ["a*b"]"#, "invalidValue", "which may end in *"),
            Mistake(field: #""headers": { "a b": "c" }"#, "invalidHeader", "“a b” isn't a header name"),
            Mistake(field: #""headers": { "A": "b\n" }"#, "invalidHeader", "has a control character in its value"),
            Mistake(field: #""headers": { "Content-Length": "3" }"#, "invalidHeader", "“Content-Length” can't be set"),
            Mistake(field: #""headers": { "X-A": "1", "x-a": "2" }"#, "duplicate", "is given as “X-A” too"),
        ]
    }

    /// Makes the files that the mistakes are about.
    private func makeFiles() throws {
        try folder.write("hello", to: "Resources/a.txt")
        try folder.write("secret", to: "outside.txt")
        let resources = folder.url.appendingPathComponent("Resources").path
        try FileManager.default.createDirectory(atPath: "\(resources)/sub", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(resources)/link",
            withDestinationPath: "\(resources)/../outside.txt"
        )
        try #require(mkfifo("\(resources)/pipe", 0o600) == 0)
    }

    private func writeMap(_ mistakes: [Mistake]) throws {
        let lines =
            ["\"https://ok.example/a\": \"a.txt\""]
            + mistakes.enumerated().map { number, mistake in
                "\"\(mistake.key(onLine: number + 3))\": \(mistake.value)"
            }
        try folder.write("{\n" + lines.joined(separator: ",\n") + "\n}", to: "substitutions.json")
    }

    @Test("It reports an entry's mistake with its key, its line and the fix", arguments: Mistake.all)
    func error(of mistake: Mistake) async throws {
        try makeFiles()
        try writeMap([mistake])
        let run = try await folder.substitute("check", "--json")
        #expect(run.status == 1)
        let report = try run.json(Report.self)
        #expect(report.errors == 1)
        let finding = try #require(report.findings.first)
        #expect(finding.severity == "error")
        #expect(finding.kind == mistake.kind)
        #expect(finding.key == mistake.key(onLine: 3))
        #expect(finding.file == "substitutions.json")
        #expect(finding.line == 3)
        #expect(finding.message.contains(mistake.message))
    }

    @Test("It reports everything that's wrong, not only the first mistake, in the order of lines")
    func allErrors() async throws {
        try makeFiles()
        try writeMap(Mistake.all)
        let run = try await folder.substitute("check")
        #expect(run.status == 1)
        let errors = run.lines.filter { $0.contains(": error: ") }
        #expect(errors.count == Mistake.all.count)
        for (number, mistake) in Mistake.all.enumerated() {
            let begin = "substitutions.json:\(number + 3): error: “\(mistake.key(onLine: number + 3))”: "
            #expect(errors.contains { $0.hasPrefix(begin) && $0.contains(mistake.message) }, "\(begin)")
        }
        let lines = errors.compactMap { $0.split(separator: ":").dropFirst().first.flatMap { Int($0) } }
        #expect(lines == lines.sorted())
        #expect(run.lines.dropLast().last?.hasPrefix("1 entry in use, \(errors.count) errors, ") == true)
    }

    @Test("It reports a file that it isn't allowed to read", .enabled(if: geteuid() != 0, "root may read everything"))
    func unreadable() async throws {
        try folder.writeMap(#"{ "https://h.example/a": "a.txt" }"#, files: ["a.txt": "hello"])
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path("Resources/a.txt"))
        let run = try await folder.substitute("check", "--json")
        #expect(run.status == 1)
        #expect(try run.json(Report.self).findings.map(\.kind) == ["unreadableFile"])
    }

    @Test("It reports a syntax error with its column")
    func syntax() async throws {
        try folder.writeMap("{\n  \"https://h.example/a\": nil\n}")
        let report = try await folder.substitute("check", "--json").json(Report.self)
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1)
        #expect(finding.kind == "syntax")
        #expect((finding.line, finding.column) == (2, 26))
        #expect(finding.key == nil)
    }

    #if os(Linux)
    @Test("It calls a file missing if its name differs in letter case, and names the one that exists")
    func letterCase() async throws {
        try folder.writeMap(#"{ "https://h.example/a": "Logo.png" }"#, files: ["logo.png": "x"])
        let run = try await folder.substitute("check")
        #expect(run.status == 1)
        #expect(run.output.contains("The file “Logo.png” doesn't exist. Did you mean “logo.png”?"))
    }
    #endif

    @Test(
        "It reports a mistyped file name once, and doesn't call the intended file unused",
        arguments: [
            ("https://h.example/a", "stauts.json", "status.json"),
            ("https://h.example/a", "status.json", "sub/status.json"),
            ("https://h.example/a", "sub/status.json", "status.json"),
            ("https://h.example/*", "icon/*", "icons/star.svg"),
        ]
    )
    func onceForEachMistake(key: String, named: String, existing: String) async throws {
        try folder.writeMap(#"{ "\#(key)": "\#(named)" }"#, files: [existing: "{}"])
        let run = try await folder.substitute("check")
        #expect(run.lines.dropLast().last == "0 entries in use, 1 error, 0 warnings", "\(run.output)")
    }

    // MARK: Warnings

    /// A map that works, but is odd on its second line.
    struct Oddity: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let kind: String
        let entries: [String]
        let files: [String: String]
        let message: String
        var line: Int? = 2
        var isHiddenIfAttached = false

        static let all = [
            Oddity(
                testDescription: "a file that no entry names",
                kind: "unusedFile",
                entries: [#""https://h.example/a": "a.txt""#],
                files: ["a.txt": "hello", "sub/left.txt": "over", ".hidden": "is no such file"],
                message:
                    "No entry names the file “sub/left.txt” in the resources folder. Add an entry, or remove the file.",
                line: nil
            ),
            Oddity(
                testDescription: "a pattern that another one shadows",
                kind: "neverWins",
                entries: [#""https://h.example/x/**": "x/*""#, #""https://h.example/x/*": "x/*""#],
                files: ["x/a.txt": "hello"],
                message: "The pattern is shadowed by “https://h.example/x/*”, which matches the same"
            ),
            Oddity(
                testDescription: "a pattern that two others shadow together",
                kind: "neverWins",
                entries: [
                    #""*://h.example/x/*": "x/*""#, #""https://h.example/x/*": "x/*""#,
                    #""http://h.example/x/*": "x/*""#,
                ],
                files: ["x/a.txt": "hello"],
                message: "which together match the same URLs. Remove this pattern."
            ),
            Oddity(
                testDescription: "a pattern whose file name can never be filled",
                kind: "neverWins",
                entries: [#""https://h.example/x/*": ".x/*""#],
                files: [".x/a.txt": "hello"],
                message:
                    "The pattern never applies: the file name “.x/*” has a segment that is empty or begins with “.”. Correct"
            ),
            Oddity(
                testDescription: "a header that the loader refuses",
                kind: "noEffect",
                entries: [#""https://h.example/a": { "file": "a.txt", "headers": { "Vary": "Cookie" } }"#],
                files: ["a.txt": "hello"],
                message:
                    "URLSession never uses a cached response with the header “Vary”. Attach the cache to the session.",
                isHiddenIfAttached: true
            ),
            Oddity(
                testDescription: "a status that the loader refuses",
                kind: "noEffect",
                entries: [#""https://h.example/a": { "status": 500 }"#],
                files: [:],
                message: "never uses a cached response with the status 500.",
                isHiddenIfAttached: true
            ),
            Oddity(
                testDescription: "a method that the loader doesn't ask a cache for",
                kind: "noEffect",
                entries: [#""https://h.example/a": { "file": "a.txt", "methods": ["POST"] }"#],
                files: ["a.txt": "hello"],
                message: "URLSession doesn't ask a cache for POST",
                isHiddenIfAttached: true
            ),
            Oddity(
                testDescription: "a timeout that nothing uses",
                kind: "noEffect",
                entries: [#""https://h.example/a": { "file": "a.txt", "timeout": 5 }"#],
                files: ["a.txt": "hello"],
                message: #"Add "use": "whenOffline", or remove “timeout”."#
            ),
            Oddity(
                testDescription: "a file that is not what its MIME type says",
                kind: "contradictedType",
                entries: [#""https://h.example/a": "a.png""#],
                files: ["a.png": "GIF89a......"],
                message: "The file “a.png” is served as image/png, but its first bytes say otherwise: image/gif. "
                    + "Replace the file, or set “mimeType”."
            ),
            Oddity(
                testDescription: "a catch-all",
                kind: "catchAll",
                entries: [#""https://h.example/*": "*""#],
                files: ["a.txt": "hello"],
                message: "The pattern serves every file in the resources folder"
            ),
        ]
    }

    @Test("It warns of oddities, and still succeeds", arguments: Oddity.all)
    func warning(of oddity: Oddity) async throws {
        try folder.writeMap("{\n" + oddity.entries.joined(separator: ",\n") + "\n}", files: oddity.files)
        let run = try await folder.substitute("check")
        #expect(run.status == 0)
        #expect(run.lines.count == 3, "one warning, and the sum")
        let place = oddity.line.map { "substitutions.json:\($0)" } ?? "substitutions.json"
        #expect(run.output.hasPrefix("\(place): warning: "))
        #expect(run.lines[0].contains(oddity.message))
        #expect(run.lines[1].hasSuffix(" in use, 0 errors, 1 warning"))

        let report = try await folder.substitute("check", "--json").json(Report.self)
        #expect(report.warnings == 1)
        let finding = try #require(report.findings.first)
        #expect((finding.severity, finding.kind, finding.line) == ("warning", oddity.kind, oddity.line))
        #expect((finding.key == nil) == (oddity.line == nil))

        let attached = try await folder.substitute("check", "--attached")
        #expect(attached.output.contains(oddity.message) == !oddity.isHiddenIfAttached)
    }

    /// Where a map and its files are, and the files that `check` should call unused.
    struct Layout: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let map: String
        let entry: String
        let files: [String]
        let unused: [String]
        var options: [String] = []

        static let all = [
            Layout(
                testDescription: "an app's sources, with a folder that entries name",
                map: "App/substitutions.json",
                entry: "Assets/img/logo.png",
                files: [
                    "App/App.swift", "App/Views/View.swift", "App/Assets/img/sub/x.png", "App/Assets/y.png",
                ],
                unused: ["Assets/img/sub/x.png"]
            ),
            Layout(
                testDescription: "files beside the map",
                map: "App/substitutions.json",
                entry: "logo.png",
                files: ["App/App.swift", "App/old.png"],
                unused: []
            ),
            Layout(
                testDescription: "a pattern's folder",
                map: "substitutions.json",
                entry: "site/*.css",
                files: ["main.swift", "site/a.png", "sites/b.png"],
                unused: ["site/a.png"]
            ),
            Layout(
                testDescription: "a folder Resources with the map",
                map: "App/Resources/substitutions.json",
                entry: "logo.png",
                files: ["App/App.swift", "App/Resources/old.png"],
                unused: ["old.png"]
            ),
            Layout(
                testDescription: "a folder Substitutes with the map",
                map: "App/Substitutes/substitutions.json",
                entry: "logo.png",
                files: ["App/App.swift", "App/Substitutes/old.png"],
                unused: ["old.png"]
            ),
            Layout(
                testDescription: "a folder Substitutes beside the map, and Resources for something else",
                map: "App/substitutions.json",
                entry: "logo.png",
                files: [
                    "App/Substitutes/logo.png", "App/Substitutes/old.png", "App/Resources/Assets.xcassets/a.json",
                ],
                unused: ["old.png"]
            ),
            Layout(
                testDescription: "another folder that is named for the map's files",
                map: "substitutions.json",
                entry: "logo.png",
                files: ["main.swift", "Kept/old.png"],
                unused: ["old.png"],
                options: ["--resources", "Kept"]
            ),
        ]
    }

    @Test("It lists unnamed files only where the map's files are", arguments: Layout.all)
    func unused(in layout: Layout) async throws {
        let isPattern = layout.entry.contains("*")
        let key = isPattern ? "https://h.example/*.css*" : "https://h.example/a"
        let value = #"{ "file": "\#(layout.entry)", "ignoreQuery": true }"#
        try folder.write("{ \"\(key)\": \(value) }", to: layout.map)
        let place = layout.options.last ?? String(layout.map.dropLast("substitutions.json".count))
        try folder.write("x", to: "\(place)/\(layout.entry.replacing("*", with: "x"))")
        for file in layout.files { try folder.write("x", to: file) }
        let run = try await folder.substitute(["check", "--json", "--map", layout.map] + layout.options)
        #expect(run.status == 0)
        let findings = try run.json(Report.self).findings
        #expect(
            findings.filter { $0.kind == "unusedFile" }.map(\.message)
                == layout.unused.map {
                    "No entry names the file “\($0)” in the resources folder. Add an entry, or remove the file."
                }
        )
    }

    @Test(
        "If another file in the folder can't be read and has a URL as a key, it calls no file unused",
        arguments: [
            (#"{ "https://h.example/2": "a/2.txt", "https://h.example/2": "a/3.txt" }"#, 0),
            (#"{ "https://h.example/2": "a/2.txt", }"#, 0), (#"{ "compilerOptions": {}, // a comment"#, 1),
        ]
    )
    func unreadableOtherMap(text: String, warnings: Int) async throws {
        try folder.writeMap(#"{ "https://h.example/1": "a/1.txt" }"#, files: ["a/1.txt": "1", "a/2.txt": "2"])
        try folder.write(text, to: "other.json")
        let run = try await folder.substitute("check")
        let count = "\(warnings) warning\(warnings == 1 ? "" : "s")"
        #expect(run.lines.last { !$0.isEmpty } == "1 entry in use, 0 errors, \(count)", "\(run.output)")
    }

    @Test("It doesn't call a file unused that another map in the folder names")
    func usedByOtherMap() async throws {
        try folder.writeMap(
            #"{ "https://h.example/1": "a/1.txt" }"#,
            files: ["a/1.txt": "1", "a/2.txt": "2", "b/3.css": "3", "c.txt": "4"]
        )
        try folder.write(#"{ "https://h.example/2": "a/2.txt", "https://h.example/*": "b/*.css" }"#, to: "two.json")
        try folder.write("[]", to: "list.json")
        try folder.write(#"{ "icon": "c.txt" }"#, to: "manifest.json")
        let run = try await folder.substitute("check")
        #expect(run.lines.first?.contains("No entry names the file “c.txt”") == true, "\(run.output)")
        #expect(run.lines.dropFirst().first == "1 entry in use, 0 errors, 1 warning", "\(run.output)")
    }

    @Test("Entries that need an attached session are one line, or none with --attached")
    func attached() async throws {
        let entries = [
            #""https://h.example/a": { "text": "a", "delay": 1 }"#, #""https://h.example/b": { "status": 503 }"#,
            #""https://h.example/c": { "text": "c", "methods": ["POST"] }"#,
            #""https://h.example/d": { "text": "d", "use": "whenOffline" }"#,
            #""https://h.example/e": [{ "error": "timedOut", "times": 1 }, { "status": 500 }]"#,
        ]
        try folder.writeMap("{\n\(entries.joined(separator: ",\n"))\n}")
        let run = try await folder.substitute("check")
        #expect(run.status == 0)
        #expect(
            run.output == """
                substitutions.json:2: warning: If only substitute serve uses the map, nothing is wrong: hide this \
                warning with check --attached. In an app or a test, 5 entries need an attached session: \
                “https://h.example/a”, “https://h.example/b”, “https://h.example/c” and 2 more. \
                Attach the cache. If you did, hide this warning, too.
                5 entries in use, 0 errors, 1 warning

                """
        )
        let report = try await folder.substitute("check", "--json").json(Report.self)
        #expect(report.warnings == 1)
        #expect(report.findings.first?.keys == ["a", "b", "c", "d", "e"].map { "https://h.example/\($0)" })

        let silent = try await folder.substitute("check", "--attached")
        #expect(silent.output == "5 entries in use, 0 errors, 0 warnings\n")
    }

    @Test("It names streams, rates and handlers among what needs an attached session")
    func pieces() async throws {
        let entries = [
            #""https://h.example/a": { "stream": ["a", { "file": "a.txt" }] }"#,
            #""https://h.example/b": { "text": "b", "bytesPerSecond": 1 }"#,
            #""https://h.example/c": { "text": "c", "secondsPerLine": 1 }"#,
            #""https://h.example/d": { "text": "d", "secondsPerEvent": 0 }"#,
        ]
        for (entry, field) in zip(entries, ["stream", "bytesPerSecond", "secondsPerLine", "secondsPerEvent"]) {
            try folder.writeMap("{ \(entry) }", files: field == "stream" ? ["a.txt": "a"] : [:])
            let run = try await folder.substitute("check")
            #expect(run.status == 0)
            #expect(run.output.contains("warning: “https://h.example/"))
            #expect(run.output.contains("“\(field)” needs an attached session"))
            let start = "If only substitute serve uses the map, nothing is wrong: hide this warning with check"
            #expect(run.output.contains("”: \(start) --attached. In an app or a test: “\(field)” needs"))
            let silent = try await folder.substitute("check", "--attached")
            #expect(!silent.output.contains("session"))
        }
    }

    @Test("It notes which entries only code can answer, and doesn't fail")
    func handlers() async throws {
        let entries = [
            #""https://h.example/a": { "handler": "saveOrder", "delay": 1 }"#,
            #""https://h.example/b": [{ "status": 503, "times": 1 },"#, #"{ "handler": "other" }]"#,
            #""https://h.example/c": { "handler": "off", "enabled": false }"#,
        ]
        try folder.writeMap("{\n\(entries[0]),\n\(entries[1])\n\(entries[2]),\n\(entries[3])\n}")
        let notes = [
            "substitutions.json:2: note: “https://h.example/a”: The handler “saveOrder” exists only in code. Use this entry in the app or its tests.",
            "substitutions.json:4: note: “https://h.example/b”: The handler “other” exists only in code. Use this entry in the app or its tests.",
        ]
        let attached = try await folder.substitute("check", "--attached")
        #expect(attached.status == 0)
        #expect(attached.lines == notes + ["3 entries in use, 0 errors, 0 warnings", ""])
        let run = try await folder.substitute("check")
        #expect(run.status == 0)
        #expect(
            run.lines == [
                "substitutions.json:2: warning: If only substitute serve uses the map, nothing is wrong: hide this "
                    + "warning with check --attached. In an app or a test, 2 entries need an attached session: "
                    + "“https://h.example/a” and “https://h.example/b”. Attach the cache. If you did, hide this "
                    + "warning, too."
            ] + notes + ["3 entries in use, 0 errors, 1 warning", ""]
        )
        let report = try await folder.substitute("check", "--json", "--attached").json(Report.self)
        #expect(report.warnings == 0)
        #expect(report.findings.map(\.severity) == ["note", "note"])
        #expect(report.findings.map(\.kind) == ["handler", "handler"])
        #expect(report.findings.map(\.line) == [2, 4])
    }

    @Test("It knows the files of a stream's pieces")
    func pieceFiles() async throws {
        try folder.writeMap(
            #"""
            { "https://h.example/a": { "stream": ["b.txt", { "file": "a.txt" }] },
              "https://h.example/*": { "stream": [{ "file": "*.sse" }] } }
            """#,
            files: ["a.txt": "a", "b.txt": "b", "c.sse": "c"]
        )
        let run = try await folder.substitute("check", "--attached")
        #expect(
            run.lines.first
                == "substitutions.json: warning: No entry names the file “b.txt” in the resources folder. Add an entry, or remove the file."
        )
        #expect(run.lines.count == 3)
        try folder.writeMap("{ \"https://h.example/a\": { \"stream\": [\"a\",\n{ \"file\": \"none.txt\" }] } }")
        let missing = try await folder.substitute("check", "--attached")
        #expect(missing.status == 1)
        #expect(
            missing.output.hasPrefix(
                "substitutions.json:2: error: “https://h.example/a”: Piece 2: The file “none.txt” "
            )
        )
    }

    @Test("It doesn't call a file unused that only an entry with an error names")
    func usedByMistake() async throws {
        try folder.writeMap(
            """
            { "htp://h.example/a": "a.txt", "https://h.example/b": { "file": "b.txt", "statis": 404 },
              "https:///*": "site/*" }
            """,
            files: ["a.txt": "a", "b.txt": "b", "site/c.txt": "c"]
        )
        let run = try await folder.substitute("check")
        #expect(run.lines.dropLast().last == "0 entries in use, 3 errors, 0 warnings")
    }

    @Test("It doesn't warn of disabled entries")
    func disabled() async throws {
        try folder.writeMap(
            #"{ "https://h.example/*.css": { "file": "*", "enabled": false }, "https://h.example/*.js": null }"#
        )
        #expect(try await folder.substitute("check").output == "2 entries in use, 0 errors, 0 warnings\n")
    }

    @Test("No control character of a map reaches the terminal")
    func controlCharacters() async throws {
        try folder.writeMap(#"{ "\u001b]0;title\u0007": "\u001b[2Jx", "https://h.example/\u001b[2J": "a.txt" }"#)
        let run = try await folder.substitute("check")
        #expect(run.status == 1)
        #expect(!run.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(run.output.contains(#"“\u{1B}]0;title\u{7}”"#))
    }
}
