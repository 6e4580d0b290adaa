import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("What the documents say about errors", .values)
struct ErrorNamesTests {
    @Test("The map's format lists the names of all errors")
    func names() throws {
        let lines = Document.lines(of: "Sources/LocalSubstitution/Documentation.docc/MapFormat.md")
        let section = lines.drop { $0 != "### Errors" }.dropFirst().prefix { !$0.hasPrefix("#") }.joined(separator: " ")
        let listed = section.matches(of: /`([a-zA-Z]+)`/).map { String($0.output.1) }.filter { $0 != "error" }
        #expect(listed.filter { $0 != "URLError" } == URLErrorNames.all.map(\.name))
    }
}
