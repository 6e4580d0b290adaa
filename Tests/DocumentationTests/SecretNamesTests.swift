import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("What the documents say about names of credentials", .values)
struct SecretNamesTests {
    /// The words in code style in the article's list.
    private static let listed: Set<String> = {
        let text = Document.lines(of: Document.article("RecordResponsesForTests").path).joined(separator: "\n")
        let section = text.components(separatedBy: "### Which names are found").last ?? ""
        let list = section.components(separatedBy: "\n##")[0]
        return Set(list.matches(of: /`([^`]+)`/).map { String($0.output.1) })
    }()

    /// The words in the tables of the source.
    private static let names: Set<String> = {
        let source = Document.lines(of: "Sources/LocalSubstitution/Map/URLs/SecretName.swift").joined(separator: "\n")
        let rows = source.matches(of: /\(\.[a-zA-Z]+, "([^"]+)"\)/).flatMap { $0.output.1.split(separator: " ") }
        let constants = /(?:harmless|firstOfAttributes|lastOfAttributes|prefixes|ambiguous) = \[([^\]]+)\]/
        let lists = source.matches(of: constants).flatMap { $0.output.1.matches(of: /"([^"]+)"/).map(\.output.1) }
        return Set((rows + lists).map(String.init))
    }()

    private static let found = ["userPasswordHash", "accessToken", "authHeader", "apiKey", "api_key", "API-Key"]
    private static let notFound = ["maxTokens", "tokenType"]

    @Test("The article lists the words of the rules, and no others")
    func words() {
        #expect(Self.names.count > 130)
        #expect(Self.names.subtracting(Self.listed).sorted() == [])
        #expect(Self.listed.subtracting(Self.names).sorted() == (Self.found + Self.notFound).sorted())
    }

    @Test("The article's examples are what the rules say")
    func examples() {
        for name in Self.found { #expect(SecretName.isSecret(name, in: .member), "\(name)") }
        for name in Self.notFound + ["passwordless"] { #expect(!SecretName.isSecret(name, in: .member), "\(name)") }
    }
}
