import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("What the documents say about errors", .values)
struct ErrorNamesTests {
    @Test("The map's format lists the names of all errors")
    func names() throws {
        #expect(Self.names(below: "#### All error names") == URLErrorNames.all.map(\.name))
    }

    @Test("The errors that are often tested have such names")
    func oftenTested() throws {
        let article = Document.article("MapFormat")
        let table = try #require(article.tables.first { $0.header == ["your code handles", "name"] })
        let all = URLErrorNames.all.map(\.name)
        #expect(table.rows.count > 5)
        for (_, cells) in table.rows { #expect(all.contains(cells[1])) }
    }

    /// The words in code style between a heading of the article and the next one.
    private static func names(below heading: String) -> [String] {
        let lines = Document.lines(of: Document.article("MapFormat").path)
        let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("#") }.joined(separator: " ")
        return section.matches(of: /`([a-zA-Z]+)`/).map { String($0.output.1) }
    }
}
