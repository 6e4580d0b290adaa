import Foundation

/// Completions for fish.
struct FishCompletions: Sendable {
    let commands: [CompletedCommand]

    var script: String {
        let rules = commands.flatMap { command in
            [""] + command.options.map { rule(for: $0, of: command) }
                + command.operands.enumerated().compactMap { rule(for: $1, after: $0, of: command) }
        }
        return """
            # To install: \(CompletingShell.fish.installation)

            # With a subcommand's name, whether it's the one on the command line; without, whether there is none yet.
            function __substitute_is
                set -l words (commandline -opc)
                if set -q argv[1]
                    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"
                else
                    test (count $words) -eq 1
                end
            end

            # Whether a subcommand has a number of operands so far. After both come its options that take a value.
            function __substitute_operand
                __substitute_is $argv[1]; or return
                set -l number $argv[2]
                set -e argv[1..2]
                set -l words (commandline -opc)
                set -e words[1..2]
                set -l found 0
                set -l is_value 0
                for word in $words
                    if test $is_value = 1
                        set is_value 0
                    else if contains -- "$word" $argv
                        set is_value 1
                    else if not string match -q -- '-*' "$word"
                        set found (math $found + 1)
                    end
                end
                test $is_value = 0; and test $found = $number
            end

            # Prints the folders and the files with an extension, or only the folders.
            function __substitute_names
                set -l start (string replace -r -- '^--[a-z-]+=' '' (commandline -ct))
                # For a command that doesn't exist, fish suggests files.
                set -l names (complete -C "'' $start")
                string match -r -- '.*/$' $names
                set -q argv[1]; and string match -r -- ".*\\.$argv[1]\\$" $names
            end

            complete -c substitute -f
            \(commands.map(rule).joined(separator: "\n"))
            \(CompletingShell.standalone.map(Self.rule).joined(separator: "\n"))
            \(rules.joined(separator: "\n"))
            """
    }

    private func rule(for command: CompletedCommand) -> String {
        "complete -c substitute -n __substitute_is -a \(command.name) -d \(Self.quoted(command.summary))"
    }

    private static func rule(forStandalone option: String, _ help: String) -> String {
        "complete -c substitute -n __substitute_is -l \(option.dropFirst(2)) -d \(quoted(help))"
    }

    private func rule(for option: Option, of command: CompletedCommand) -> String {
        let condition = Self.quoted("__substitute_is \(command.name)")
        let value = option.value.map { " " + (suggest($0) ?? "-x") } ?? ""
        return "complete -c substitute -n \(condition) -l \(option.name)\(value) "
            + "-d \(Self.quoted(option.help))"
    }

    /// Returns the rule for an operand; `nil` if there are no suggestions.
    private func rule(for operand: ArgumentValue, after number: Int, of command: CompletedCommand) -> String? {
        guard let suggestion = suggest(operand, isRequired: false) else { return nil }
        let taking = command.options.filter { $0.value != nil }.map { " --\($0.name)" }
        let condition = "__substitute_operand \(command.name) \(number)\(taking.joined())"
        return "complete -c substitute -n \(Self.quoted(condition)) \(suggestion)"
    }

    /// Returns the options of `complete` that suggest a value; `nil` if there are no suggestions.
    private func suggest(_ value: ArgumentValue, isRequired: Bool = true) -> String? {
        let words: String
        switch value.suggestions {
        case .none: return nil
        case .files(nil): return isRequired ? "-r -F" : "-F"
        case .files(let name?): words = "(__substitute_names \(name))"
        case .folders: words = "(__substitute_names)"
        case .words(let list): words = list.joined(separator: " ")
        case .commands: words = commands.map(\.name).joined(separator: " ")
        }
        return "\(isRequired ? "-x" : "-f") -a \(Self.quoted(words))"
    }

    /// Returns the text in single quotes, in which fish changes only \ and '.
    private static func quoted(_ text: String) -> String {
        "'" + text.reduce(into: "") { $0 += #"\'"#.contains($1) ? "\\\($1)" : "\($1)" } + "'"
    }
}
