import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What the documents say about responses", .sessions)
struct ResponseTableTests {
    static let article = "Sources/LocalSubstitution/Documentation.docc/HowARequestIsDecided.md"

    @Test("The article lists the statuses that the loader accepts")
    func statuses() throws {
        let cells = Document(Self.article).tables.flatMap(\.rows).map { $0.cells.joined(separator: " ") }
        let row = try #require(cells.first { $0.contains("200, 203") })
        let listed = row.matches(of: /\d{3}/).compactMap { Int($0.output) }
        let entries = (200...599).map { "\"https://h/\($0)\": { \"status\": \($0) }" }.joined(separator: ",")
        let folder = try ExampleFolder(files: [])
        let map = try SubstitutionMap(json: Data("{\(entries)}".utf8), resources: folder.url)
        let taken = (200...599).filter { status in
            let substitution = URL(string: "https://h/\(status)").flatMap(map.substitution)
            return substitution.map { LoaderRules.refusal(ofStatus: $0.status, headers: $0.headers) == nil } ?? false
        }
        #expect(Set(listed) == Set(taken))
    }

    @Test("The documents list the headers of a response")
    func headers() throws {
        let table = try #require(Document(Self.article).tables.first { $0.header == ["header", "value"] })
        let folder = try ExampleFolder(files: ["app.js"])
        let map = try SubstitutionMap(["https://h/app.js": "app.js"], resources: folder.url)
        let url = try #require(URL(string: "https://h/app.js"))
        let cached = LocalSubstitutionCache(map: map).cachedResponse(for: URLRequest(url: url))
        let response = try #require(cached?.response as? HTTPURLResponse)
        // Foundation spells some names differently, such as `Etag`.
        let names = response.allHeaderFields.keys.compactMap { ($0 as? String)?.lowercased() }
        #if canImport(Darwin)
        let elsewhere: Set<String> = []
        #else
        let elsewhere: Set = ["date"]
        #endif
        #expect(Set(table.rows.map { $0.cells[0].lowercased() }).subtracting(elsewhere) == Set(names))
        #expect(table.rows.filter { $0.cells[1].contains("on Apple platforms") }.map { $0.cells[0] } == ["Date"])
        #expect(response.value(forHTTPHeaderField: "Cache-Control") == "max-age=31536000")
    }
}
