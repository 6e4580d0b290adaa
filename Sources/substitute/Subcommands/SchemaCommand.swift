import Foundation
import LocalSubstitution

let schemaCommand = Subcommand(
    name: "schema",
    summary: "print the JSON Schema of maps, for editors",
    details: """
        Prints the JSON Schema (2020-12) of maps, for editors and validators. Save it
        beside a map, and name it there:

            substitute schema > substitutions.schema.json
            { "$schema": "./substitutions.schema.json", … }

        A schema can't find missing files, or keys that mean the same URL. Use check for
        that.
        """,
    options: [.flag("json", help: "print JSON (no effect: the schema is JSON)")],
    usesMap: false,
    run: schema
)

private func schema(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    if let operand = arguments.operands.first {
        throw Complaint(
            usage: "schema takes only options, since all maps have the same schema. Leave out “\(operand)”."
        )
    }
    output.bytes(Data(MapSchema.text.utf8))
    return .done
}
