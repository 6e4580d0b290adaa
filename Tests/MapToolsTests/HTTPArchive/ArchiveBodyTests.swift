import Foundation
import HTTPSyntax
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The bodies in archives", .sessions)
struct ArchiveBodyTests {
    private let fixture: ArchiveFixture

    init() throws { fixture = try ArchiveFixture() }

    private static let json = "application/json"
    private static let gzip = Data([0x1F, 0x8B, 0x08, 0, 0xFF, 0xFE, 1, 2, 3])
    private static let zstd = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0xFE])
    private static let zlib = Data([0x78, 0x9C, 0xFF, 0xFE, 1, 2])
    private static let png = ArchiveImportTests.png
    private static let isGzip = [("Content-Encoding", "gzip")]
    private static let isDeflate = [("content-encoding", "deflate")]

    private static func bytes(
        _ bytes: Data,
        _ type: String?,
        _ headers: [(String, String)] = [],
        names encoding: Bool = true
    ) -> Recording {
        let text = bytes.base64EncodedString()
        return Recording(mimeType: type, text: text, encoding: encoding ? "base64" : nil, headers: headers)
    }

    private static func hex(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    /// Bodies, and the bytes that a client gets; `nil` if the body is still compressed.
    static let bodies: [(Recording, Data?)] = [
        (bytes(gzip, json, isGzip), nil), (bytes(gzip, json), nil), (bytes(gzip, "text/html", isGzip), nil),
        (bytes(gzip, nil, isGzip), nil), (bytes(gzip, "image/png"), nil), (bytes(zstd, json), nil),
        (bytes(zstd, "application/wasm", [("Content-Encoding", "zstd")]), nil), (bytes(zlib, json, isDeflate), nil),
        (bytes(zlib, "application/octet-stream", isDeflate), nil), (bytes(gzip, json, isGzip, names: false), nil),
        (bytes(zlib, json, isDeflate, names: false), nil),
        (Recording(text: "\u{1F}\u{FFFD}\u{8}\0", headers: isGzip), nil),
        (Recording(mimeType: json, text: "[\"\(hex(gzip))\"]", headers: isGzip), nil),
        (Recording(mimeType: json, text: "[\"\(hex(zstd))\", \"00\"]", headers: isGzip), nil),
        (Recording(mimeType: "image/png", text: "[\"\(hex(png))\"]"), nil),
        (bytes(gzip, "text/css; charset=utf-8", isGzip), nil), (bytes(zstd, "text/plain"), nil),

        (bytes(gzip, "application/gzip"), gzip), (bytes(gzip, "application/x-gzip", isGzip), gzip),
        (bytes(gzip, "application/octet-stream"), gzip), (bytes(zlib, "application/octet-stream"), zlib),
        (bytes(png, "image/png", isGzip), png), (bytes(png, "image/png", names: false), png),
        (bytes(Data("<svg/>".utf8), "image/svg+xml", names: false), Data("<svg/>".utf8)),
        (bytes(Data("%PDF-1.7".utf8), "application/pdf", names: false), Data("%PDF-1.7".utf8)),
        (bytes(png, "text/plain", names: false), Data(png.base64EncodedString().utf8)),
        (bytes(gzip, "text/plain", names: false), Data(gzip.base64EncodedString().utf8)),
        (Recording(mimeType: json, text: "x^2", headers: isDeflate), Data("x^2".utf8)),
        (Recording(mimeType: json, text: #"["1f8b0800"]"#), Data(#"["1f8b0800"]"#.utf8)),
        (Recording(mimeType: json, text: #"["deadbeef"]"#, headers: isGzip), Data(#"["deadbeef"]"#.utf8)),
        (Recording(mimeType: json, text: "{}", headers: isGzip), Data("{}".utf8)),
        (bytes(zlib, "application/zlib", isDeflate), zlib),
        (bytes(Data("x^2 + y".utf8), json, isDeflate), Data("x^2 + y".utf8)),
        (bytes(png, "image/png", [("Content-Encoding", "identity")], names: false), png),
    ]

    @Test("A body that's still compressed is named, and any other is as the client got it", arguments: bodies)
    func decoded(_ recording: Recording, _ expected: Data?) async throws {
        let item = try #require(try fixture.take([recording]).first)
        #expect(item.left?.kind == (expected == nil ? "compressed" : nil))
        let map = try HTTPArchive(Recording.archive([recording])).map()
        let message = "the body is still compressed (export the archive again with decoded content)"
        #expect(map.problems.map(\.message) == (expected == nil ? ["GET: \(message)"] : []))
        guard let expected else { return }
        #expect(try fixture.served("https://h.com/a")?.body == expected)
        #expect(try await load(map)?.body == expected)
    }

    /// Returns what a strict session gets.
    private func load(
        _ map: SubstitutionMap,
        _ url: String = "https://h.com/a",
        method: String = "GET",
        headers: [String: String] = [:]
    ) async throws -> (response: HTTPURLResponse, body: Data)? {
        let session = try LocalSubstitutionCache(map: map).makeSession(.ephemeral, unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        guard let (data, response) = try? await session.data(for: request) else { return nil }
        return (response as? HTTPURLResponse).map { ($0, data) }
    }

    // MARK: Responses from a client's cache

    @Test(
        "The content of a 304 is the response",
        arguments: [
            Recording(status: 304, mimeType: "text/html", text: "<p>"),
            Recording(
                status: 304,
                mimeType: "text/html",
                text: "PHA+",
                encoding: "base64",
                headers: [("ETag", "\"1\"")]
            ),
            Recording(method: "POST", status: 304, mimeType: "text/html", text: "<p>", size: 3),
            Recording(method: "PUT", status: 304, mimeType: "text/html", text: "<p>"),
            Recording(status: 304, mimeType: nil, text: "<p>"),
            Recording(status: 304, mimeType: "text/html", text: "<p>", headers: [("Content-Length", "0")]),
            Recording(status: 304, mimeType: "text/html", text: "<p>", headers: [("etag", "W/\"2\"")]),
        ]
    )
    func notModified(_ recording: Recording) async throws {
        let method = recording.method ?? "GET"
        let selection = try HTTPArchive.Selection(statuses: [304])
        #expect(try fixture.take([recording], selection).map(\.left?.kind) == [nil])
        for map in [try HTTPArchive(Recording.archive([recording])).map(), try fixture.map()] {
            let got = try #require(try await load(map, method: method))
            #expect(got.response.statusCode == 200)
            #expect(got.body == Data("<p>".utf8))
            guard method == "GET" else { continue }
            let tag = try #require(got.response.value(forHTTPHeaderField: "ETag"))
            let same = try #require(try await load(map, headers: ["If-None-Match": tag]))
            #expect(same.response.statusCode == 304 && same.body.isEmpty)
        }
    }

    @Test("A 304 without content is left out, and the response before it goes on answering")
    func notModifiedWithoutContent() async throws {
        let recordings = [
            Recording(text: "x"), Recording(status: 304, text: nil, size: 0), Recording(status: 304, text: ""),
        ]
        #expect(try fixture.take(recordings).map { $0.left?.kind } == [nil, "noBody", "noBody"])
        let map = try HTTPArchive(Recording.archive(recordings)).map()
        #expect(map.problems.map(\.message) == Array(repeating: "GET: no body was recorded", count: 2))
        for _ in 0..<2 { #expect(try await load(map)?.response.statusCode == 200) }
    }

    // MARK: Responses without a body

    private static let isZero = [("Content-Length", "0")]
    private static let hasLength = [("content-length", "73")]

    /// Responses, and whether they can be used.
    static let empty: [(Recording, Bool)] = [
        (Recording(method: "DELETE", status: 204, mimeType: "x-unknown", text: nil, size: 0), true),
        (Recording(method: "PUT", status: 204, mimeType: "x-unknown", text: nil), true),
        (Recording(method: "PUT", status: 205, mimeType: "text/plain", text: "lost"), true),
        (Recording(method: "POST", status: 201, text: nil, size: 0, headers: [("location", "/items/2")]), true),
        (Recording(method: "HEAD", mimeType: "text/css", text: nil, size: 10), true),
        (Recording(method: "OPTIONS", status: 204, text: nil, headers: [("access-control-allow-origin", "*")]), true),
        (Recording(status: 301, text: nil, headers: [("Location", "https://h.com/new")]), true),
        (Recording(mimeType: "image/gif", text: nil, size: 0), true), (Recording(status: 404, text: "", size: 0), true),
        (Recording(status: 500, mimeType: nil, text: "", size: 0), true),
        (Recording(text: "", headers: isZero), true), (Recording(text: "", bodySize: 0), true),
        (Recording(status: 404, text: "", encoding: "base64", headers: isZero), true),
        (Recording(text: "", size: 0, headers: hasLength), true), (Recording(text: "", size: 0, bodySize: 73), true),
        (Recording(text: "", size: 0, bodySize: 73, headers: hasLength + isGzip), true),
        (Recording(method: "HEAD", text: "", size: 0, bodySize: 73, headers: hasLength), true),
        (Recording(text: "", size: 0, bodySize: 73, headers: isZero), true),
        (
            Recording(
                status: 302,
                text: "",
                size: 0,
                bodySize: 73,
                headers: hasLength + [("Location", "https://h.com/b")]
            ),
            true
        ),
        (Recording(text: "", size: 0, bodySize: 73, headers: [("Content-Length", "x")]), true),

        (Recording(text: "", size: 0, bodySize: 73, headers: hasLength), false),
        (Recording(text: nil, size: 0, bodySize: 73, headers: hasLength), false),
        (Recording(text: "", size: 0, bodySize: 73, headers: hasLength + [("Content-Encoding", "identity")]), false),
        (Recording(method: "POST", status: 404, text: "", size: 0, bodySize: 73, headers: hasLength), false),
        (Recording(text: nil, headers: isZero), false), (Recording(text: nil, bodySize: 0), false),
        (Recording(text: "", headers: hasLength), false), (Recording(text: "", bodySize: 73), false),
        (Recording(text: "", size: 3, headers: isZero), false),
        (Recording(status: 304, text: "", headers: isZero), false),
        (Recording(text: nil), false), (Recording(text: nil, size: 3), false), (Recording(text: "", size: 3), false),
        (Recording(method: "POST", status: 201, text: nil), false), (Recording(status: 302, text: nil, size: 9), false),
    ]

    @Test("A redirect whose target may contain a credential is left out, since it has no meaning without the target")
    func secretRedirect() throws {
        let location = "https://h.com/callback?access_token=s3cr3t"
        let recording = Recording(status: 302, text: nil, headers: [("Location", location)])
        #expect(try fixture.take([recording]).first?.left?.kind == "secretLocation")
        #expect(try HTTPArchive(Recording.archive([recording])).map().problems.count == 1)
    }

    @Test("What a test gets is what's imported, also without a body", arguments: empty)
    func withoutBody(_ recording: Recording, isUsed: Bool) throws {
        let test = try HTTPArchive(Recording.archive([recording])).map()
        for change in [EditedMap.ResponseFile.Change.new, .unchanged] {
            let item = try #require(try fixture.take([recording]).first)
            #expect(item.file?.change == (isUsed ? change : nil))
            #expect(item.left?.kind == (isUsed ? nil : "noBody"))
        }
        #expect(test.problems.isEmpty == isUsed)
        guard isUsed else { return }
        #expect(try fixture.contents().keys.sorted() == ["substitutions.json"])
        let (url, facts) = (try NormalizedURL("https://h.com/a"), RequestFacts(method: recording.method ?? "GET"))
        let imported = try #require(try fixture.map().match(url, for: facts).substitution)
        let other = try #require(test.match(url, for: facts).substitution)
        #expect(imported.status == other.status && imported.status == recording.status)
        #expect(imported.fileName == nil && other.fileName == nil)
        for name in ["Location", "Access-Control-Allow-Origin"] {
            #expect(imported.headers[header: name] == other.headers[header: name])
        }
        #expect(imported.headers[header: "Location"] == recording.headers.first { $0.0.lowercased() == "location" }?.1)
        #expect(imported.contentType(ofBody: Data()) == other.contentType(ofBody: Data()))
    }

    // MARK: Files beside the archive

    /// Names of files, and what's wrong with them; `nil` if nothing is.
    static let files: [(name: String, problem: String?)] = [
        ("abc123.html", nil), ("a b.png", nil), ("missing.html", "doesn't exist, or is a link"),
        ("link.html", "doesn't exist, or is a link"), ("pipe", "is a named pipe, not a regular file"),
        ("folder", "is a folder, not a regular file"), ("../outside.html", beside), ("folder/inside.html", beside),
        ("folder\\inside.html", beside), ("/etc/hosts", beside), (".hidden", beside), ("..", beside), ("a..b", beside),
        ("abc123.html\0", beside),
    ]
    private static let beside = "isn't the name of a file beside the archive"

    @Test("A body may be in a file beside the archive, and no other file is read", arguments: files)
    func besideArchive(_ name: String, _ problem: String?) throws {
        let folder = try TemporaryFolder()
        for file in ["in/abc123.html", "in/a b.png", "in/.hidden", "in/a..b", "in/folder/inside.html", "outside.html"] {
            try folder.write(file, "<p>")
        }
        try folder.link("in/link.html", to: "abc123.html")
        try folder.makePipe("in/pipe")
        let recording = Recording(mimeType: "text/html", text: nil, file: name, size: 3)
        let archive = try HTTPArchive(contentsOf: folder.write("in/a.har", Recording.archive([recording])))
        var map = try fixture.edited()
        let item = try #require(map.take(archive, try HTTPArchive.Selection()).items.first)
        try map.save()
        let message = problem.map { "the body's file “\(name)” \($0)" }
        #expect(item.left?.description == message)
        #expect(try archive.map().problems.map(\.message) == (message.map { ["GET: \($0)"] } ?? []))
        #expect(try fixture.served("https://h.com/a")?.body == (problem == nil ? Data("<p>".utf8) : nil))
    }

    @Test(
        "An empty file is an empty body, unless the server sent one",
        arguments: [
            (nil, 0, nil), ("0", 0, nil), ("73", 0, nil), ("73", -1, nil), (nil, 73, nil), ("73", 73, "noBody"),
            ("0", 73, nil),
        ] as [(String?, Int, String?)]
    )
    func emptyFile(length: String?, bodySize: Int, reason: String?) throws {
        let folder = try TemporaryFolder()
        try folder.write("body", "")
        let headers = length.map { [("Content-Length", $0)] } ?? []
        let recording = Recording(text: nil, file: "body", size: 0, bodySize: bodySize, headers: headers)
        let archive = try HTTPArchive(contentsOf: folder.write("a.har", Recording.archive([recording])))
        var map = try fixture.edited()
        #expect(map.take(archive, try HTTPArchive.Selection()).items.map { $0.left?.kind } == [reason])
    }

    /// The types and bytes of bodies in files, and the types that are returned.
    static let fileTypes: [(type: String, bytes: Data, returned: String)] = [
        ("text/plain; charset=iso-8859-1", Data("café".utf8), "text/plain; charset=utf-8"),
        ("text/html; charset=windows-1251", Data("при".utf8), "text/html; charset=utf-8"),
        ("application/json; charset=Shift_JIS", Data("\"日本\"".utf8), "application/json; charset=utf-8"),
        ("image/svg+xml; charset=koi8-r", Data("<svg>ä".utf8), "image/svg+xml; charset=utf-8"),
        ("text/plain; format=flowed; charset=koi8-r", Data("ä".utf8), "text/plain; format=flowed; charset=utf-8"),
        ("text/plain; charset=utf-8", Data("ä".utf8), "text/plain; charset=utf-8"),
        ("text/plain; charset=iso-8859-1", Data([0xE9]), "text/plain; charset=iso-8859-1"),
        ("text/plain; charset=iso-8859-1", Data([0xC3, 0xA9, 0xE9]), "text/plain; charset=iso-8859-1"),
        ("text/plain; charset=iso-8859-1", Data("cafe".utf8), "text/plain; charset=iso-8859-1"),
        ("text/html; charset=iso-2022-jp", Data("\u{1B}$B4A\u{1B}(B".utf8), "text/html; charset=iso-2022-jp"),
        ("text/plain; charset=utf-16le", Data([0x61, 0, 0xE9, 0]), "text/plain; charset=utf-16le"),
        ("text/html", Data("<meta charset=windows-1251>при".utf8), "text/html; charset=utf-8"),
        ("text/xml", Data("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>".utf8), "text/xml; charset=utf-8"),
        ("x-unknown", Data("<html>ä".utf8), "text/html; charset=utf-8"), ("x-unknown", Data("ä".utf8), ""),
        ("text/html", Data("<meta charset=windows-1251>".utf8), "text/html"),
        ("text/html", Data([0x3C, 0x70, 0x3E, 0xE9]), "text/html"), ("image/png", Data("ä".utf8), "image/png"),
        ("application/x-list; charset=koi8-r", Data("ä".utf8), "application/x-list; charset=koi8-r"),
    ]

    @Test("Text in a file is UTF-8, unless it can't be", arguments: fileTypes)
    func textInFile(_ row: (type: String, bytes: Data, returned: String)) throws {
        for isHeader in [false, true] {
            let folder = try TemporaryFolder()
            try folder.write("body", row.bytes)
            let headers = isHeader ? [("Content-Type", row.type)] : []
            let recording = Recording(mimeType: isHeader ? nil : row.type, text: nil, file: "body", headers: headers)
            let archive = try HTTPArchive(contentsOf: folder.write("a.har", Recording.archive([recording])))
            let fixture = try ArchiveFixture()
            var map = try fixture.edited()
            #expect(map.take(archive, try HTTPArchive.Selection()).items.map(\.left) == [nil])
            try map.save()
            let served = try #require(try fixture.served("https://h.com/a"))
            #expect(served.type == row.returned && served.body == row.bytes)
            let match = try archive.map().match(NormalizedURL("https://h.com/a"))
            #expect(match.substitution?.contentType(ofBody: row.bytes) == row.returned)
        }
    }

    @Test("A file that's too long, or still compressed, is left out")
    func badFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write("long", "12345678901")
        try folder.write("gzip", Self.gzip)
        let recordings = [
            Recording(mimeType: Self.json, text: nil, file: "long"),
            Recording(mimeType: Self.json, text: nil, file: "gzip"),
            Recording(mimeType: Self.json, text: "{}", file: "missing"),
        ]
        let archive = try HTTPArchive(contentsOf: folder.write("a.har", Recording.archive(recordings)))
        var map = try fixture.edited()
        let items = map.take(archive, try HTTPArchive.Selection(largest: 10)).items
        #expect(items.map { $0.left?.kind } == ["tooLarge", "compressed", nil])
    }
}
