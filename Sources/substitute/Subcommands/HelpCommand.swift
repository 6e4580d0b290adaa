import Foundation
import LocalSubstitution

let helpCommand = Subcommand(
    name: "help",
    operands: [Subcommand.Value("[COMMAND]", Subcommand.all.map(\.suggestion))],
    summary: "print this overview, or the help of a command",
    details: "Prints an overview of all commands, or the help of one.",
    usesMap: false,
    run: help
)

private func help(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard arguments.operands.count <= 1 else {
        throw Complaint(usage: "help takes at most one command. Leave out “\(arguments.operands[1])”.")
    }
    output.help(try arguments.operands.first.map { try Subcommand.named($0).helpText } ?? overview)
    return .done
}

extension Subcommand {
    static let all: [Subcommand] = [
        [initCommand, addCommand, importCommand, getCommand], serving,
        [explainCommand, checkCommand, schemaCommand, completionsCommand, demoCommand, helpCommand],
    ].flatMap { $0 }

    private static var serving: [Subcommand] {
        #if os(watchOS)
        []
        #else
        [serveCommand]
        #endif
    }

    static func named(_ name: String) throws(Complaint) -> Subcommand {
        if let command = all.first(where: { $0.name == name }) { return command }
        if name.hasPrefix("-") {
            throw Complaint(
                usage: "“\(name)” isn't a command. Put the command first, then its options. See substitute help."
            )
        }
        let nearest = NearestName.of(name, in: all.map(\.name))
        throw Complaint(
            usage: "“\(name)” isn't a command. " + (nearest.map { "Did you mean “\($0)”?" } ?? "See substitute help.")
        )
    }
}

/// The help text that lists all subcommands.
var overview: String {
    let commands = Subcommand.all.map { command in
        "  \(command.name)".padding(toLength: 15, withPad: " ", startingAt: 0) + command.summary
    }
    return """
        Usage: substitute COMMAND [options] [URL…]

        Responds to http and https URLs from local files, through URLSession's cache.

        Commands:
        \(commands.joined(separator: "\n"))

        Use substitute help COMMAND for a command's options, and substitute --version
        for the version. The map is ./substitutions.json unless --map names another.

        To install the command, run swift build -c release --product substitute in the
        package, and copy .build/release/substitute to a folder on your PATH. Or run
        swift package experimental-install --product substitute, which puts it into
        ~/.swiftpm/bin.

        Exit status:
          0   success
          1   something failed, or check found an error
          64  wrong usage
          75  check --remote couldn't reach some URLs
        """
}
