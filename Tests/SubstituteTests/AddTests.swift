import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("substitute add", .sessions)
struct AddTests {
    private static let url = "https://h.com/logo.png"
    private static let map = "{\n  \"https://h.com/mine\": { \"file\": \"mine.txt\",   \"comment\": \"x\" }\n}"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.writeMap(Self.map, files: ["mine.txt": "mine"])
    }

    private func map() throws -> String { String(decoding: try folder.contents("substitutions.json"), as: UTF8.self) }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path("Resources")).sorted()
    }

    // MARK: With a file

    @Test("It copies a file in, and leaves the rest of the map unchanged")
    func file() async throws {
        try folder.write("png", to: "elsewhere/logo.png")
        let run = try await folder.substitute("add", Self.url, "elsewhere/logo.png")
        #expect(run.status == 0)
        #expect(run.output == "new  image/png  3 B  logo.png  \(Self.url)\n")
        #expect(try map() == Self.map.replacing("\n}", with: ",\n  \"\(Self.url)\": \"logo.png\"\n}"))
        #expect(try folder.contents("Resources/logo.png") == Data("png".utf8))
        let again = try await folder.substitute("add", Self.url, "elsewhere/logo.png")
        #expect(again.status == 0)
        #expect(again.output.hasPrefix("unchanged  "))
    }

    @Test(
        "It names a file that's already in the resources folder",
        arguments: ["Resources/sub/a.txt", "link/../Resources/sub/a.txt"]
    )
    func inside(path: String) async throws {
        try folder.write("a", to: "Resources/sub/a.txt")
        try folder.write("b", to: "link/b")
        #expect(try await folder.substitute("add", "https://h.com/a", path).status == 0)
        #expect(try map().contains(#""https://h.com/a": "sub/a.txt""#))
        #expect(try files() == ["mine.txt", "sub", "sub/a.txt"])
    }

    /// Where the files are of a map in the folder `own`, and where a new one goes.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is there, besides the map.
        var files: [String] = []
        /// The text of the map, in which an entry may name `mine.txt`.
        var map = "{}"
        /// The text of another map beside it; `nil` for none.
        var other: String?
        /// The folder of the new file.
        let folder: String

        private static let mine = #"{ "https://h.com/mine": "mine.txt" }"#

        static let all = [
            Place(testDescription: "nothing", folder: "own/Substitutes"),
            Place(
                testDescription: "a map without files",
                map: #"{ "https://h.com/a": { "json": { "file": "a" } }, "https://h.com/b": null }"#,
                folder: "own/Substitutes"
            ),
            Place(
                testDescription: "files in Substitutes",
                files: ["Substitutes/mine.txt"],
                map: mine,
                folder: "own/Substitutes"
            ),
            Place(
                testDescription: "files in Resources",
                files: ["Resources/mine.txt"],
                map: mine,
                folder: "own/Resources"
            ),
            Place(testDescription: "an empty map and Resources", files: ["Resources/x.txt"], folder: "own/Resources"),
            Place(
                testDescription: "both folders",
                files: ["Substitutes/mine.txt", "Resources/Assets/x.txt"],
                map: mine,
                folder: "own/Substitutes"
            ),
            Place(testDescription: "files beside the map", files: ["mine.txt"], map: mine, folder: "own"),
            Place(
                testDescription: "an alternative's file beside the map",
                files: ["mine.txt"],
                map: #"{ "https://h.com/mine": [{ "methods": ["POST"], "status": 201 }, "mine.txt"] }"#,
                folder: "own"
            ),
            Place(
                testDescription: "another map's files beside the map",
                files: ["mine.txt"],
                other: mine,
                folder: "own"
            ),
            Place(
                testDescription: "another map that needs a newer version, with a file in a field that isn't known",
                files: ["mine.txt"],
                other: #"{ "$version": "1.7", "http://h.com/mine": { "later": "mine.txt" } }"#,
                folder: "own"
            ),
            Place(
                testDescription: "another file that isn't a map",
                other: #"{ "file": "a.txt", "main": "index.js" }"#,
                folder: "own/Substitutes"
            ),
            Place(testDescription: "a file Resources", files: ["Resources"], folder: "own/Substitutes"),
            Place(
                testDescription: "a folder resources, without a file",
                files: ["resources/x.txt"],
                folder: "own/Substitutes"
            ),
        ]
    }

    @Test("It puts a file where the map's files are, and every entry keeps its own", arguments: Place.all)
    func place(_ place: Place) async throws {
        try folder.write("png", to: "elsewhere/logo.png")
        for file in place.files { try folder.write("mine", to: "own/\(file)") }
        try folder.write(place.map, to: "own/substitutions.json")
        if let other = place.other { try folder.write(other, to: "own/other.json") }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path("own"))
        let options = ["--map", "own/substitutions.json"]
        #expect(try await folder.substitute(["add", Self.url, "elsewhere/logo.png"] + options).status == 0)
        #expect(try folder.contents("\(place.folder)/logo.png") == Data("png".utf8))
        let after = try FileManager.default.contentsOfDirectory(atPath: folder.path("own"))
        let isMade = !place.files.contains { $0.hasPrefix("Substitutes") } && place.folder != "own/Resources"
        let new = place.folder == "own" ? "logo.png" : isMade ? "Substitutes" : nil
        #expect(Set(after) == Set(before + [new].compactMap { $0 }))
        #expect(try await folder.substitute(["check"] + options).status == 0)
        if place.other?.contains("https") == true {
            #expect(try await folder.substitute("check", "--map", "own/other.json").status == 0)
        }
    }

    @Test(
        "If the folder Substitutes can't be made, nothing is added",
        arguments: [
            ("a file", "own/Substitutes", "/own/Substitutes” can't be opened: Not a directory."),
            (
                "another letter case", "own/substitutes/x.txt",
                "/own/substitutes” isn't used, since letter case matters. Rename it to Substitutes."
            ),
        ]
    )
    func noPlace(what: String, file: String, message: String) async throws {
        try folder.write("png", to: "logo.png")
        try folder.write("x", to: file)
        try folder.write("{}", to: "own/substitutions.json")
        let run = try await folder.substitute("add", Self.url, "logo.png", "--map", "own/substitutions.json")
        #expect(run.status == 1)
        #expect(run.messages.contains(message), "\(run.messages)")
        #expect(try folder.contents("own/substitutions.json") == Data("{}".utf8))
    }

    @Test("A missing file is said to be in another place", arguments: [true, false])
    func misplaced(isBeside: Bool) async throws {
        try folder.write(#"{ "https://h.com/mine": "mine.txt" }"#, to: "own/substitutions.json")
        try folder.write("x", to: "own/Substitutes/x.txt")
        try folder.write("mine", to: isBeside ? "own/mine.txt" : "own/Resources/mine.txt")
        let place = isBeside ? "beside the map" : "in the folder Resources"
        for words in [["add", Self.url, "own/Substitutes/x.txt"], ["check"], ["get", Self.url]] {
            let run = try await folder.substitute(words + ["--map", "own/substitutions.json"])
            #expect(run.status == 1)
            let message = "is \(place), but a folder Substitutes exists, so only that counts. Move the file."
            #expect((run.messages + run.output).contains("The file “mine.txt” \(message)"), "\(run.messages)")
        }
    }

    @Test("It writes into the map's own folder even if that's a symbolic link, and never into a linked Substitutes")
    func linked() async throws {
        try folder.write("png", to: "elsewhere/logo.png")
        try folder.write(#"{ "https://h.com/mine": "mine.txt" }"#, to: "real/substitutions.json")
        try folder.write("mine", to: "real/mine.txt")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "real")
        let words = ["add", Self.url, "elsewhere/logo.png", "--map"]
        let own = try await folder.substitute(words + ["link/substitutions.json"])
        #expect(own.status == 0, "\(own.messages)")
        #expect(try folder.contents("real/logo.png") == Data("png".utf8))

        try folder.write("x", to: "x.txt")
        try folder.write("{}", to: "other/substitutions.json")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("other/Substitutes"),
            withDestinationPath: "../real"
        )
        let outside = try await folder.substitute([
            "add", "https://h.com/x", "x.txt", "--map", "other/substitutions.json",
        ])
        #expect(outside.status == 1)
        #expect(!folder.exists("real/x.txt"))
        #expect(outside.messages.contains("Substitutes” is a symbolic link"), "\(outside.messages)")
        #expect(try folder.contents("other/substitutions.json") == Data("{}".utf8))
    }

    @Test("It adds no file that the map's own folder doesn't serve", arguments: [".x.png", "substitutions.json"])
    func notServed(_ file: String) async throws {
        let map = #"{ "https://h.com/mine": "mine.txt" }"#
        try folder.write(map, to: "beside/substitutions.json")
        try folder.write("mine", to: "beside/mine.txt")
        if file != "substitutions.json" { try folder.write("x", to: "beside/\(file)") }
        let run = try await folder.substitute("add", Self.url, "beside/\(file)", "--map", "beside/substitutions.json")
        #expect(run.status != 0)
        #expect(try folder.contents("beside/substitutions.json") == Data(map.utf8))
        #expect(run.messages.contains(file))
    }

    @Test("It puts files where those of alternatives are, and replaces them")
    func alternatives() async throws {
        let map = #"{ "https://h.com/list": [{ "text": "x", "methods": ["POST"] }, "mine.txt"] }"#
        try folder.write(map, to: "beside/substitutions.json")
        try folder.write("mine", to: "beside/mine.txt")
        try folder.write("new", to: "mine.txt")
        let words = ["add", "https://h.com/list", "mine.txt", "--map", "beside/substitutions.json"]
        #expect(try await folder.substitute(words + ["--force"]).status == 0)
        #expect(try folder.contents("beside/mine.txt") == Data("new".utf8))
        #expect(!folder.exists("beside/Substitutes"))
    }

    @Test("It accepts a pattern")
    func pattern() async throws {
        try folder.write("png", to: "logo.png")
        let key = "https://*.h.com/*.png*"
        #expect(try await folder.substitute("add", key, "logo.png").status == 0)
        let run = try await folder.substitute("explain", "https://a.h.com/x.png")
        #expect(run.output.contains("logo.png"))
        // The same pattern, spelled differently.
        #expect(try await folder.substitute("add", "HTTPS://*.H.com/*.png*", "Resources/mine.txt").status == 1)
        #expect(
            try await folder.substitute("add", "HTTPS://*.H.com/*.png*", "Resources/mine.txt", "--force").status == 0
        )
        #expect(try map().contains("\"\(key)\": \"mine.txt\""))
    }

    @Test("It replaces an entry and its own file only with --force, and never another entry's file")
    func force() async throws {
        try folder.write("new", to: "mine.txt")
        let refused = try await folder.substitute("add", "https://h.com/mine", "mine.txt")
        #expect(refused.status == 1)
        #expect(
            refused.messages.contains(
                "The map already has the entry “https://h.com/mine” for this URL. Replace it with --force."
            )
        )
        let clash = try await folder.substitute("add", Self.url, "mine.txt")
        #expect(clash.messages.contains("The resources folder already has a different file “mine.txt”. Rename yours"))
        let other = try await folder.substitute("add", Self.url, "mine.txt", "--force")
        #expect(
            other.messages.contains("“mine.txt” in the resources folder belongs to another entry. Rename your file.")
        )
        #expect([clash.status, other.status] == [1, 1])
        #expect(try map() == Self.map)
        #expect(try folder.contents("Resources/mine.txt") == Data("mine".utf8))

        let run = try await folder.substitute("add", "https://H.com:443/mine", "mine.txt", "--force")
        #expect(run.output.hasPrefix("replaced  text/plain; charset=utf-8  3 B  mine.txt  "))
        #expect(try map() == "{\n  \"https://h.com/mine\": \"mine.txt\"\n}")
        #expect(try folder.contents("Resources/mine.txt") == Data("new".utf8))
    }

    @Test("If a null entry excludes the URL, it says so", arguments: ["https://h.com/x", "https://h.com/*"])
    func excluded(_ key: String) async throws {
        try folder.write(#"{ "\#(key)": null }"#, to: "substitutions.json")
        let refused = try await folder.substitute("add", "https://h.com/x")
        #expect(refused.status == 1)
        #expect(
            refused.messages.contains(
                "The entry “\(key)” is null, so it excludes this URL. Remove that entry, or add the URL with --force."
            ),
            "\(refused.messages)"
        )
    }

    @Test("It never overwrites the file of a stream's piece, unless that's the file it's told to write")
    func pieces() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let url = origin.url("/api").absoluteString
        let stream = #"{ "stream": ["a", { "file": "rest.sse" }] }"#
        try folder.writeMap(#"{ "\#(url)": \#(stream), "https://h.com/s": \#(stream) }"#, files: ["rest.sse": "rest"])
        try folder.write("new", to: "rest.sse")
        let clash = try await folder.substitute("add", "https://h.com/new", "rest.sse", "--force")
        #expect(
            clash.messages.contains("“rest.sse” in the resources folder belongs to another entry. Rename your file.")
        )
        // Now the only entry that names it.
        try folder.writeMap(#"{ "\#(url)": \#(stream) }"#)
        #expect(try await folder.substitute("add", "--force", url).status == 0)
        #expect(try folder.contents("Resources/rest.sse") == Data("rest".utf8))
        #expect(try map().contains("/api.json"))
        try folder.writeMap(#"{ "\#(url)": \#(stream) }"#)
        #expect(try await folder.substitute("add", "--force", url, "rest.sse").status == 0)
        #expect(try folder.contents("Resources/rest.sse") == Data("new".utf8))
    }

    @Test(
        "It refuses what can't be an entry, and writes nothing",
        arguments: [
            ("https://h.com/a#b", "a.txt", "has a fragment"), ("ftp://h.com/a", "a.txt", "has the scheme “ftp”"),
            ("https://h*.com/", "a.txt", "has the host “h*.com”, with a * in the wrong place"),
            ("h.com", "a.txt", "has no scheme"),
            ("https://h.com/a", "none.txt", "none.txt” doesn't exist."),
            ("https://h.com/a", "mine.txt", "The file “mine.txt” doesn't exist here. Use Resources/mine.txt.\n"),
            ("https://h.com/a", "Resources", "is a folder, not a regular file"),
            ("https://h.com/a", "a*.txt", "has a *, which is a wildcard in a map"),
        ]
    )
    func refused(url: String, file: String, message: String) async throws {
        try folder.write("a", to: "a.txt")
        try folder.write("a", to: "a*.txt")
        let run = try await folder.substitute("add", url, file)
        #expect(run.status == 1)
        #expect(run.messages.contains(message))
        #expect(try map() == Self.map)
        #expect(try files() == ["mine.txt"])
    }

    @Test("It needs a map without problems")
    func noMap() async throws {
        try folder.write("a", to: "a.txt")
        let run = try await folder.substitute("add", Self.url, "a.txt", "--map", "none.json")
        #expect(run.status == 1)
        #expect(
            run.messages.contains("The map “\(folder.path("none.json"))” doesn't exist. Create it with ")
        )
        let advice = " \(try Executable.word()) init --map none.json, or name another map with --map FILE.\n"
        #expect(run.messages.contains(advice))
        #expect(!folder.exists("none.json"))
        try folder.writeMap(#"{ "https://h.com/a": "gone.txt" }"#)
        let broken = try await folder.substitute("add", Self.url, "a.txt")
        #expect(broken.status == 1)
        #expect(broken.messages.contains("The file “gone.txt” doesn't exist"))
        #expect(try files() == ["mine.txt"])
    }

    // MARK: From the network

    private func origin() throws -> LoopbackServer {
        try LoopbackServer(routes: [
            "/api": LoopbackServer.Answer(
                headers: [("Content-Type", "application/json"), ("Set-Cookie", "s3cr3t"), ("X-Frame-Options", "DENY")],
                body: Data("{}".utf8)
            ),
            "/dead": LoopbackServer.Answer(fault: .dropBeforeHead),
        ])
    }

    @Test("It keeps a URL's response, under a readable name with the right extension")
    func load() async throws {
        let origin = try origin()
        defer { origin.stop() }
        let url = origin.url("/api").absoluteString
        let run = try await folder.substitute("add", url)
        let name = "127.0.0.1_\(origin.url("/").port ?? 0)/api.json"
        #expect(run.output == "new  application/json; charset=utf-8  2 B  \(name)  \(url)\n")
        #expect(try folder.contents("Resources/\(name)") == Data("{}".utf8))
        #expect(try map().contains(#"{ "file": "\#(name)", "headers": { "X-Frame-Options": "DENY" } }"#))
        #expect(!run.messages.contains("\r"), "no progress where there is no terminal")
        let asked = origin.requests.count
        #expect(try await folder.substitute("add", url).status == 1)
        #expect(origin.requests.count == asked, "what would be refused is not loaded")
        let record: [String: AddValue] = try await folder.substitute("add", "--json", "--force", url).json()
        #expect(record["outcome"] == .text("unchanged"))
    }

    @Test(
        "An added response has the type that the origin sent, and no charset that it didn't send",
        arguments: [
            (["text/html"], "<!doctype html><meta charset=iso-2022-jp>\u{1B}$B4A\u{1B}(B", "text/html"),
            (["text/html", "text/html; charset=koi8-r"], "<p>", "text/html; charset=koi8-r"),
            (["text/css", "text"], "a{}", "text/css"), ([], "<!doctype html>", "text/html"),
            (["text/html; charset=windows-1251"], "<p>", "text/html; charset=windows-1251"),
            (["text/javascript"], "var a='é'", "text/javascript"),
            (["application/xhtml+xml"], "<?xml version='1.0' encoding='ISO-2022-JP'?><p/>", "application/xhtml+xml"),
        ]
    )
    func types(sent: [String], body: String, type: String) async throws {
        let origin = try LoopbackServer { _ in
            LoopbackServer.Answer(headers: sent.map { ("Content-Type", $0) }, body: Data(body.utf8))
        }
        defer { origin.stop() }
        let url = origin.url("/a").absoluteString
        let run = try await folder.substitute("add", url)
        #expect(run.status == 0, "\(run.messages)")
        struct Record: Decodable { let type: String }
        let got = try await folder.substitute("get", "--offline", "--json", url)
        #expect(try got.json([Record].self).map(\.type) == [type])
    }

    @Test("It fails on an HTTP error or without a response, and writes nothing", arguments: ["/nothing", "/dead"])
    func failure(path: String) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let url = origin.url(path).absoluteString
        let run = try await folder.substitute("add", url)
        #expect(run.status == 1)
        #expect(run.hasExited)
        #expect(run.messages.contains("\(url): "))
        if path == "/nothing" { #expect(run.messages.contains("status 404. Nothing was added.")) }
        #expect(try map() == Self.map)
        #expect(try files() == ["mine.txt"])
    }

    @Test(
        "It fails after a redirect with a credential, says why, and writes nothing",
        arguments: [
            (["/2?access_token=s3cr3t"], "the URL's parameter “access_token” may be a credential"),
            (["http://user:s3cr3t@HOST/2"], "the URL has user info"),
            (["http://user:s3cr3t@HOST/2", "http://HOST/3"], "the URL has user info"),
        ]
    )
    func redirect(targets: [String], reason: String) async throws {
        let origin = try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            guard number <= targets.count else { return .text("for one") }
            return .redirect(to: targets[number - 1].replacing("HOST", with: request.header("Host") ?? ""))
        }
        defer { origin.stop() }
        let url = origin.url("/1").absoluteString
        let run = try await folder.substitute("add", url)
        #expect(run.status == 1)
        #expect(run.messages.contains("\(url): Nothing was added, because after a redirect, \(reason)"))
        #expect(!run.messages.contains("s3cr3t"))
        #expect(try map() == Self.map)
        #expect(try files() == ["mine.txt"])
    }

    @Test("It adds a redirect's target, even if the redirect sets a cookie")
    func redirectWithCookie() async throws {
        let origin = try LoopbackServer { request in
            guard request.path == "/a" else { return .text("page") }
            return LoopbackServer.Answer(
                status: 302,
                headers: [("Location", "/b"), ("Set-Cookie", "consent=1; Path=/")]
            )
        }
        defer { origin.stop() }
        let url = origin.url("/a").absoluteString
        let run = try await folder.substitute("add", url)
        #expect(run.status == 0, "\(run.messages)")
        #expect(try map().contains(url))
        #expect(origin.requests.map(\.path) == ["/a", "/b"])
        #expect(origin.requests.last?.header("Cookie") == nil)
    }

    @Test("It can't load a pattern")
    func loadPattern() async throws {
        let run = try await folder.substitute("add", "https://h.com/*")
        #expect(run.status == 1)
        #expect(run.messages.contains("is a pattern, which can't be loaded. Name the file to return."))
    }

    /// A value of the JSON document.
    private enum AddValue: Decodable, Equatable {
        case text(String)
        case number(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }
}
