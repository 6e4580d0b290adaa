import Foundation
import HTTPSyntax
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Responses", .sessions)
struct ResponseTests {
    @Test("A response has the headers that HTTP requires, and says that it's substituted")
    func headers() throws {
        let fixture = try CacheFixture(
            #""https://h/a": "sub dir/ä\"%41\\'?;.css""#,
            files: ["sub dir/ä\"%41\\'?;.css": "body {}"]
        )
        let response = try #require(try fixture.cache().lookUp("https://h/a"))
        let http = try #require(response.http)
        #expect(http.url?.absoluteString == "https://h/a")
        #expect(http.statusCode == 200)
        #expect(http.mimeType == "text/css")
        #expect(http.textEncodingName == "utf-8")
        #expect(http.expectedContentLength == 7)
        #expect(response.header("Content-Type") == "text/css; charset=utf-8")
        #expect(response.header("Content-Length") == "7")
        #expect(response.header("Accept-Ranges") == "bytes")
        #expect(response.header("Cache-Control") == "max-age=31536000")
        let status = #"LocalSubstitutionCache; hit; detail="sub%20dir/%C3%A4%22%2541%5C%27%3F;.css""#
        #expect(response.header("Cache-Status") == status)
        #expect(response.header("Last-Modified") == nil)
        #if canImport(Darwin)
        #expect(response.header("Date") == HTTPSyntax.text(of: Date()))
        #expect(response.storagePolicy == .allowedInMemoryOnly)
        #else
        // Linux's loader never reads `Date`.
        #expect(response.header("Date") == nil)
        #expect(response.storagePolicy == .notAllowed)
        #endif
        let tag = try #require(response.header("ETag"))
        #expect(tag.wholeMatch(of: /"[0-9a-f-]+"/) != nil)
        #expect(response.text == "body {}")
    }

    struct TypeRow: CustomTestStringConvertible, Sendable {
        let entry: String
        var url = "https://h/a"
        var contents = Data("x".utf8)
        let type: String
        var testDescription: String { "\(entry) → \(type)" }
    }

    static let types = [
        TypeRow(entry: #""f.png""#, type: "image/png"),
        TypeRow(entry: #""f.PNG""#, type: "image/png"),
        TypeRow(entry: #""f.js""#, type: "text/javascript; charset=utf-8"),
        TypeRow(entry: #""f.json""#, type: "application/json; charset=utf-8"),
        TypeRow(entry: #""f.xml""#, type: "application/xml; charset=utf-8"),
        TypeRow(entry: #""f.svg""#, type: "image/svg+xml; charset=utf-8"),
        TypeRow(entry: #""f""#, url: "https://h/a.html", type: "text/html; charset=utf-8"),
        TypeRow(entry: #""f.unknown""#, url: "https://h/a.html?x=.png", type: "text/html; charset=utf-8"),
        TypeRow(entry: #""f""#, type: "application/octet-stream"),
        TypeRow(entry: #"{ "file": "f.png", "mimeType": "text/plain" }"#, type: "text/plain; charset=utf-8"),
        TypeRow(entry: #"{ "file": "f.txt", "charset": "iso-8859-1" }"#, type: "text/plain; charset=iso-8859-1"),
        TypeRow(entry: #"{ "file": "f.txt", "charset": null }"#, type: "text/plain"),
        TypeRow(entry: #"{ "file": "f", "mimeType": "text/css", "charset": null }"#, type: "text/css"),
        TypeRow(
            entry: #"{ "file": "f.txt", "charset": null }"#,
            contents: Data([0xEF, 0xBB, 0xBF, 65]),
            type: "text/plain"
        ),
        TypeRow(entry: #"{ "file": "f.bin", "charset": "koi8-r" }"#, type: "application/octet-stream; charset=koi8-r"),
        TypeRow(entry: #"{ "file": "f.png", "headers": { "content-type": "a/b; c=d" } }"#, type: "a/b; c=d"),
        TypeRow(entry: #""f.txt""#, contents: Data([0xEF, 0xBB, 0xBF, 65]), type: "text/plain; charset=utf-8"),
        TypeRow(entry: #""f.txt""#, contents: Data([0xFF, 0xFE, 65, 0]), type: "text/plain; charset=utf-16le"),
        TypeRow(entry: #""f.txt""#, contents: Data([0xFE, 0xFF, 0, 65]), type: "text/plain; charset=utf-16be"),
        TypeRow(
            entry: #""f.txt""#,
            contents: Data([0xFF, 0xFE, 0, 0, 65, 0, 0, 0]),
            type: "text/plain; charset=utf-32le"
        ),
        TypeRow(
            entry: #"{ "file": "f.txt", "charset": "utf-8" }"#,
            contents: Data([0xFF, 0xFE]),
            type: "text/plain; charset=utf-8"
        ),
        TypeRow(entry: #""f.png""#, contents: Data([0xFF, 0xFE]), type: "image/png"),
    ]

    @Test("The MIME type and charset come from the entry, the file, the URL or the byte order mark", arguments: types)
    func contentType(_ row: TypeRow) throws {
        let file = String(try #require(row.entry.firstMatch(of: /"(f[.a-zA-Z]*)"(?!:)/)).output.1)
        let fixture = try CacheFixture(#""\#(row.url)": \#(row.entry)"#, files: [file: ""])
        try fixture.write(row.contents, to: file)
        let cache = try fixture.cache()
        let response = try #require(try cache.lookUp(row.url))
        #expect(response.header("Content-Type") == row.type)
        #expect(response.response.mimeType == row.type.split(separator: ";").first.map(String.init))
        #expect(try cache.explain(request(row.url)).contentType == row.type)
        #expect(response.data == row.contents)
    }

    @Test("The entry's headers replace the cache's, in any letter case")
    func ownHeaders() throws {
        let fixture = try CacheFixture(
            """
            "$defaults": { "headers": { "X-Both": "default", "X-Default": "default", "X-CASE": "default" } },
            "https://h/a": { "file": "a.txt", "headers": { "etag": "\\"mine\\"", "X-Both": "entry", "x-case": "entry" } },
            "https://h/b": "a.txt"
            """
        )
        let cache = try fixture.cache()
        let own = try #require(try cache.lookUp("https://h/a"))
        #expect(own.header("ETag") == "\"mine\"")
        #expect(own.header("X-Both") == "entry")
        #expect(own.header("X-Case") == "entry")
        #expect(own.header("X-Default") == "default")
        #expect(own.http?.allHeaderFields.count { ($0.key as? String)?.lowercased() == "etag" } == 1)
        #expect(try cache.lookUp("https://h/b")?.header("X-Both") == "default")
    }

    @Test("An entry with only a status has an empty body", arguments: [204, 404, 410])
    func statusOnly(_ status: Int) throws {
        let cache = try CacheFixture(#""https://h/a.html": { "status": \#(status) }"#).cache()
        let response = try #require(try cache.lookUp("https://h/a.html"))
        #expect(response.http?.statusCode == status)
        #expect(response.data.isEmpty)
        #expect(response.header("Content-Length") == "0")
        #expect(response.header("Cache-Status") == "LocalSubstitutionCache; hit")
    }

    @Test("A file's body can have another status")
    func statusAndFile() throws {
        let cache = try CacheFixture(#""https://h/a": { "status": 404, "file": "a.txt" }"#).cache()
        let response = try #require(try cache.lookUp("https://h/a"))
        #expect(response.http?.statusCode == 404)
        #expect(response.text == "local")
    }

    @Test("HEAD has the headers of GET and no body")
    func head() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        let get = try #require(try cache.lookUp("https://h/a"))
        let head = try #require(cache.cachedResponse(for: try request("https://h/a", method: "HEAD")))
        #expect(head.data.isEmpty)
        #expect(head.header("Content-Length") == "5")
        for name in ["Content-Type", "ETag", "Accept-Ranges", "Cache-Status"] {
            #expect(head.header(name) == get.header(name))
        }
    }

    @Test("An empty file is an empty 200")
    func empty() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#, files: ["a.txt": ""]).cache()
        let response = try #require(try cache.lookUp("https://h/a"))
        #expect(response.data.isEmpty)
        #expect(response.http?.statusCode == 200)
    }

    @Test("The validator changes with the file, even if the size stays the same")
    func validator() throws {
        let fixture = try CacheFixture(#""https://h/a": "a.txt""#)
        let before = try fixture.cache().lookUp("https://h/a")?.header("ETag")
        try fixture.write("LOCAL", to: "a.txt")
        let after = try fixture.cache().lookUp("https://h/a")?.header("ETag")
        #expect(before != nil && after != nil && before != after)
    }
}
