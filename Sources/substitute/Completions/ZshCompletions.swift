import Foundation

/// Completions for zsh.
struct ZshCompletions: Sendable {
    let commands: [CompletedCommand]

    var script: String {
        """
        #compdef substitute
        # To install: \(CompletingShell.zsh.installation)

        _substitute_commands() {
            local -a commands
            commands=(
        \(commands.map { "        " + described($0) }.joined(separator: "\n"))
            )
            _describe -t commands command commands
        }

        _substitute() {
            local curcontext="$curcontext" state='' state_descr='' command
            local -a context line
            local -A opt_args
            if (( CURRENT == 2 )); then
                _substitute_commands
                _arguments \(CompletingShell.standalone.map { Self.spec($0, ofFlag: $1) }.joined(separator: " "))
                return
            fi
            command=${words[2]}
            # _arguments takes the first word for the command.
            shift words
            (( CURRENT-- ))
            case $command in
        \(commands.map(arguments).joined(separator: "\n"))
            esac
        }

        # An autoloaded file is the function's body. A sourced one isn't.
        if [[ ${funcstack[1]-} == _substitute ]]; then
            _substitute "$@"
        elif (( ${+functions[compdef]} )); then
            compdef _substitute substitute
        fi
        """
    }

    private func described(_ command: CompletedCommand) -> String {
        ShellWord.quoted("\(command.name):\(command.summary)")
    }

    /// The case for a subcommand's arguments.
    private func arguments(of command: CompletedCommand) -> String {
        let options = command.options.map(spec)
        let operands = command.operands.enumerated().map { index, value in
            ShellWord.quoted("\(index + 1)\(action(value))")
        }
        // Options may follow any operand.
        let lines = (["_arguments -S"] + options + operands + ["'*: : '"]).joined(separator: " \\\n                ")
        return "        \(command.name))\n            \(lines) ;;"
    }

    private func spec(_ option: Option) -> String {
        guard let value = option.value else { return Self.spec("--\(option.name)", ofFlag: option.help) }
        let mark = option.repeats ? "*" : ""
        return ShellWord.quoted("\(mark)--\(option.name)=[\(Self.escaped(option.help))]\(action(value))")
    }

    private static func spec(_ name: String, ofFlag help: String) -> String {
        ShellWord.quoted("\(name)[\(escaped(help))]")
    }

    /// A value's placeholder and what completes it, as `_arguments` reads them.
    private func action(_ value: ArgumentValue) -> String {
        let action =
            switch value.suggestions {
            case .none: " "
            case .files(nil): "_files"
            case .files(let name?): "_files -g \"*.\(name)\""
            case .folders: "_files -/"
            case .words(let words): "(\(words.joined(separator: " ")))"
            case .commands: "_substitute_commands"
            }
        return ":\(Self.escaped(value.placeholder)):\(action)"
    }

    /// Returns the text with what separates the parts of a specification escaped.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += #"\:[]"#.contains($1) ? "\\\($1)" : "\($1)" }
    }
}
