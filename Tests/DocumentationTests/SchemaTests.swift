import Foundation
import SchemaValidator
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The JSON Schema of maps and the package", .sessions)
struct SchemaTests {
    private static let isAvailable = ConditionTrait.enabled(
        if: SchemaValidator.isAvailable,
        "\(SchemaValidator.advice)"
    )

    @Test("The maps of the package and of the documents are valid", isAvailable)
    func maps() throws {
        let fixtures = "Tests/DocumentationTests/Fixtures"
        let files = [
            "substitutions.json", "\(fixtures)/substitutions.json", "\(fixtures)/checkout.json",
        ]
        let maps = files.map { Document.lines(of: $0).joined(separator: "\n") }
        let examples = Document.all.flatMap { $0.blocks(in: "json") }
        #expect(examples.count > 3)
        let places = files + examples.map(\.place)
        for (place, problem) in zip(places, try SchemaValidator.problems(of: maps + examples.map(\.text))) {
            #expect(problem == nil, "\(place)")
        }
    }

    @Test("The map with mistakes isn't valid", isAvailable)
    func mistakes() throws {
        let map = Document.lines(of: "Tests/DocumentationTests/Fixtures/mistakes/substitutions.json")
        #expect(try SchemaValidator.problems(of: [map.joined(separator: "\n")]) != [nil])
    }

    private struct Schema: Decodable {
        struct Definition: Decodable {
            let properties: [String: Property]
        }

        struct Property: Decodable {
            let `enum`: [String]?
        }

        struct Definitions: Decodable {
            let fields: Definition
        }

        let definitions: Definitions

        enum CodingKeys: String, CodingKey {
            case definitions = "$defs"
        }
    }

    @Test("The schema has every field and every value of “use” and “error”")
    func fields() throws {
        let schema = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: SchemaValidator.schema))
        let fields = schema.definitions.fields.properties
        #expect(Set(fields.keys) == Set(EntryFields.names))
        #expect(fields["use"]?.enum == Substitution.Use.allCases.map(\.rawValue))
        #expect(fields["error"]?.enum == URLErrors.all.map(\.name))
    }
}
