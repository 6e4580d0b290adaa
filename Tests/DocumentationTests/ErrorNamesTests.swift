import Foundation
import LocalSubstitutionTesting
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What the documents say about errors", .sessions)
struct ErrorNamesTests {
    @Test("The map's format lists the names and numbers of all errors")
    func names() throws {
        let tables = Document.article("MapFormat").tables
        let table = try #require(tables.first { $0.header == ["name", "number", "note"] })
        let listed = table.rows.map { $0.cells.prefix(2).joined(separator: " ") }
        #expect(listed == URLErrors.all.map { "\($0.name) \($0.code.rawValue)" })
        let noted = table.rows.filter { $0.cells.last?.isEmpty == false }.map { $0.cells[0] }
        #expect(noted == [URLErrors.name(.resourceUnavailable)])
    }

    @Test("A test's unmatched request gets the error that the table says", .substituting([:], unmatched: .fail))
    func unmatched() async throws {
        let url = try #require(URL(string: "https://h/a"))
        let error = await #expect(throws: URLError.self) { try await URLSession.substituted.data(from: url) }
        #expect(error?.code == .resourceUnavailable)
    }

    @Test("The errors that are often tested have such names")
    func oftenTested() throws {
        let article = Document.article("MapFormat")
        let table = try #require(article.tables.first { $0.header == ["your code handles", "name"] })
        let all = URLErrors.all.map(\.name)
        #expect(table.rows.count > 5)
        for (_, cells) in table.rows { #expect(all.contains(cells[1])) }
    }
}
