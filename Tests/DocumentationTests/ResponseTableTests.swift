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

    @Test("The article lists the headers that a handler's response doesn't have")
    func headersOfHandlers() async throws {
        let table = try #require(Document(Self.article).tables.first { $0.header == ["header", "value"] })
        let text = Document.lines(of: Self.article).joined(separator: " ")
        let sentence = try #require(text.firstMatch(of: /A handler's response has no ([^:]+) unless/))
        let left = sentence.output.1.matches(of: /`([^`]+)`/).map { $0.output.1.lowercased() }
        let folder = try ExampleFolder(files: ["app.js"])
        for answer in [SubstitutionMap.Answer.file("app.js"), .text("a"), .json(["a": 1])] {
            let entries: KeyValuePairs<String, SubstitutionMap.Answer> = [
                "https://h/app.js": .handler { _ in answer }
            ]
            let cache = LocalSubstitutionCache(map: try SubstitutionMap(entries, resources: folder.url))
            let session = try cache.makeSession(unmatched: .fail)
            defer { session.finishTasksAndInvalidate() }
            let url = try #require(URL(string: "https://h/app.js"))
            let response = try #require(try await session.data(from: url).1 as? HTTPURLResponse)
            let names = response.allHeaderFields.keys.compactMap { ($0 as? String)?.lowercased() }
            let all = Set(table.rows.map { $0.cells[0].lowercased() })
            #expect(Set(names).union(["date"]) == all.subtracting(left).union(["date"]))
        }
    }
}
