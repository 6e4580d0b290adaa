import Foundation
import SchemaValidator
import TestSupport
import Testing

@Suite("substitute schema", .sessions)
struct SchemaTests {
    @Test("It prints the package's schema, byte for byte, and needs no map")
    func prints() async throws {
        let folder = try TemporaryFolder()
        let run = try await folder.substitute("schema")
        #expect(run.status == 0)
        #expect(run.messages.isEmpty)
        #expect(run.bytes == (try Data(contentsOf: SchemaValidator.schema)))
        #expect(try await folder.substitute("schema", "--json").bytes == run.bytes)
    }

    @Test("Even a lone copy of the command prints it")
    func alone() async throws {
        let folder = try TemporaryFolder()
        let run = try await folder.run(folder.copyOfSubstitute(), ["schema"])
        #expect(run.status == 0)
        #expect(run.bytes == (try Data(contentsOf: SchemaValidator.schema)))
    }

    @Test("It takes no operands")
    func operands() async throws {
        let run = try await TemporaryFolder().substitute("schema", "map.json")
        #expect(run.status == 64)
        #expect(run.messages.contains("schema takes only options"))
    }
}
