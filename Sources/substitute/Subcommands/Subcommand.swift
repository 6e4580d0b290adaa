import Foundation
import LocalSubstitution

/// Something that `substitute` can do.
struct Subcommand: Sendable {
    let name: String
    /// What follows the name, as `URL…`.
    let operands: String
    /// One line.
    let summary: String
    /// Some more lines, at most 80 columns wide.
    let details: String
    let options: [Option]
    let run: @Sendable (Arguments, Output) async throws -> ExitStatus

    static let all = [
        initCommand, addCommand, importCommand, getCommand, serveCommand, explainCommand, checkCommand,
        schemaCommand, demoCommand, helpCommand,
    ]

    /// What every subcommand knows besides.
    static let commonOptions = [
        Option(name: "map", value: "FILE", help: "the map; default: ./substitutions.json"),
        Option(name: "resources", value: "DIR", help: "its files; default: Resources beside the map"),
        Option(name: "json", value: nil, help: "print one JSON document"),
        Option(name: "help", value: nil, help: "print this text"),
    ]

    /// Its own, and the common ones that it does not describe itself.
    var allOptions: [Option] {
        options + Self.commonOptions.filter { common in !options.contains { $0.name == common.name } }
    }

    static func unknown(_ name: String) -> Failure {
        if name.hasPrefix("-") {
            return Failure(
                usage: "\(name) is no command: the command comes first, its options follow; try substitute help"
            )
        }
        let nearest = name == "page" ? "get --parts" : NearestName.of(name, in: all.map(\.name))
        return Failure(
            usage:
                "unknown command \(name)" + (nearest.map { ": did you mean \($0)?" } ?? ": try substitute help")
        )
    }

    var helpText: String {
        var lines = [
            "Usage: substitute \(name) [options]" + (operands.isEmpty ? "" : " \(operands)"), "", details, "",
            "Options:",
        ]
        for option in allOptions {
            let left = "  --\(option.name)" + (option.value.map { " \($0)" } ?? "")
            lines.append(left.padding(toLength: 27, withPad: " ", startingAt: 0) + option.help)
        }
        return lines.joined(separator: "\n")
    }
}
