import Foundation
import LocalSubstitution

/// A subcommand of `substitute`.
struct Subcommand: Sendable {
    let name: String
    /// What follows the name, such as `URL…`.
    let operands: String
    /// A description in one line, for the overview.
    let summary: String
    /// A longer description, at most 80 columns wide.
    let details: String
    let options: [Option]
    /// Whether it works on a map, and has the options for that.
    var usesMap = true
    /// What a shell suggests for the operands, in order; empty if it has nothing to suggest for any.
    var operandValues: [ArgumentValue] = []
    let run: @Sendable (Arguments, Output) async throws -> ExitStatus

    static let all = [
        initCommand, addCommand, importCommand, getCommand, serveCommand, explainCommand, checkCommand,
        schemaCommand, completionsCommand, demoCommand, helpCommand,
    ]

    /// The options that every subcommand with a map has.
    private static let commonOptions = [
        Option(name: "map", value: .file(withExtension: "json"), help: "the map (default: ./substitutions.json)"),
        Option(name: "resources", value: .folder, help: "the map's files (default: Resources beside the map)"),
        Option(name: "json", value: nil, help: "print JSON"),
    ]

    private static let helpOption = Option(name: "help", value: nil, help: "print this help")

    /// Its own options, and the common ones that it doesn't describe itself.
    var allOptions: [Option] {
        let common = usesMap ? Self.commonOptions : []
        return options + common.filter { common in !options.contains { $0.name == common.name } } + [Self.helpOption]
    }

    static func unknown(_ name: String) -> Failure {
        if name.hasPrefix("-") {
            return Failure(
                usage: "“\(name)” isn't a command. Put the command first, then its options. See substitute help."
            )
        }
        let nearest = name == "page" ? "get --parts" : NearestName.of(name, in: all.map(\.name))
        return Failure(
            usage:
                "“\(name)” isn't a command. " + (nearest.map { "Did you mean “\($0)”?" } ?? "See substitute help.")
        )
    }

    var helpText: String {
        var lines = [
            "Usage: substitute \(name) [options]" + (operands.isEmpty ? "" : " \(operands)"), "", details, "",
            "Options:",
        ]
        for option in allOptions {
            let left = "  --\(option.name)" + (option.value.map { " \($0.placeholder)" } ?? "")
            lines.append(left.padding(toLength: 27, withPad: " ", startingAt: 0) + option.help)
        }
        return lines.joined(separator: "\n")
    }
}
