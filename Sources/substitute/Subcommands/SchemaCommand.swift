import Foundation

let schemaCommand = Subcommand(
    name: "schema",
    operands: "",
    summary: "print the JSON Schema of maps, for editors",
    details: """
        Prints the JSON Schema (2020-12) of maps: what an entry may have, for editors
        and validators. Put it beside a map, and let the map name it:

            substitute schema > substitutions.schema.json
            { "$schema": "./substitutions.schema.json", … }

        A schema can't see files, nor URLs that are given twice: check does.
        """,
    options: [],
    run: schema
)

private func schema(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "schema takes no operands: it is the same for all maps")
    }
    output.bytes(Data(PackageResources.substitutions_schema_json))
    return .done
}
