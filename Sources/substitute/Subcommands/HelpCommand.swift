import Foundation

let helpCommand = Subcommand(
    name: "help",
    operands: "[COMMAND]",
    summary: "print this overview, or the help of a command",
    details: "Prints an overview of the commands, or the help of one.",
    options: [],
    run: help
)

private func help(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.count <= 1 else { throw Failure(usage: "help takes one command at most") }
    guard let name = arguments.operands.first else {
        output.help(overview)
        return .done
    }
    guard let command = Subcommand.all.first(where: { $0.name == name }) else {
        throw Subcommand.unknown(name)
    }
    output.help(command.helpText)
    return .done
}

/// An overview of all commands.
var overview: String {
    let commands = Subcommand.all.map { command in
        "  \(command.name)".padding(toLength: 12, withPad: " ", startingAt: 0) + command.summary
    }
    return """
        Answers http and https URLs from local files, through URLSession's cache.

        Usage: substitute COMMAND [options] [URL…]

        Commands:
        \(commands.joined(separator: "\n"))

        substitute help COMMAND prints a command's options. substitute --version
        prints the version. The map is ./substitutions.json unless --map names another.

        Exit status: 0 done, 1 something failed or check found an error, 64 wrong usage,
        75 check --remote could not reach everything.
        """
}
