/// A shell that the command has completions for. The scripts are made from what the subcommands declare.
enum CompletingShell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// Returns the script that completes these subcommands.
    func script(for commands: [Subcommand]) -> String {
        switch self {
        case .bash: BashCompletions(commands: commands).script
        case .zsh: ZshCompletions(commands: commands).script
        case .fish: FishCompletions(commands: commands).script
        }
    }

    /// The options that `substitute` takes in place of a subcommand, with their descriptions.
    fileprivate static let standalone: KeyValuePairs = [
        "--help": "print an overview", "--version": "print the version",
    ]
}

/// Completions for bash. They use nothing that bash 3.2, the one of macOS, lacks.
private struct BashCompletions {
    let commands: [Subcommand]

    var script: String {
        """
        # To install: substitute completions bash > ~/.substitute.bash; then source that file in ~/.bashrc.

        # $1: what a word begins with; the rest: words.
        _substitute_words() {
            local start=$1 word
            shift
            for word in "$@"; do
                case $word in "$start"*) COMPREPLY+=("$word") ;; esac
            done
        }

        # $1: what a name begins with; the rest: what compgen suggests.
        _substitute_names() {
            local start=$1 name quotes=''
            # Makes readline quote names. Bash 3.2 lacks it.
            compopt -o filenames 2>/dev/null || quotes=missing
            shift
            while IFS= read -r name; do
                if [[ -n $quotes ]]; then printf -v name %q "$name"; fi
                COMPREPLY+=("$name")
            done < <(compgen "$@" -- "$start")
        }

        _substitute() {
            local line=${COMP_LINE:0:COMP_POINT} blanks command current option='' after='' word
            local -a words=()
            local -i operands=0
            COMPREPLY=()
            # Readline splits words at = and :, too. Join those that have no blank between them.
            for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
                blanks=${line%%[![:blank:]]*}
                line=${line#"$blanks"}
                line=${line#"$word"}
                if [[ ${#words[@]} == 0 || -n $blanks ]]; then
                    words+=("$word")
                else
                    words[${#words[@]}-1]+=$word
                fi
            done
            command=${words[1]-}
            current=${words[${#words[@]}-1]}
            if ((${#words[@]} <= 2)); then
                _substitute_words "$current" \(Self.words(commands.map(\.name) + CompletingShell.standalone.map(\.key)))
                return
            fi
            # Find the option that takes the current word, and count the operands before it.
            for word in "${words[@]:2:${#words[@]}-3}"; do
                if [[ -n $option ]]; then
                    option=''
                elif [[ -n $after || $word != -* ]]; then
                    operands+=1
                elif [[ $word == -- ]]; then
                    after=$word
                else
                    case "$command $word" in
                        \(Self.pattern(optionValues.map(\.words)))) option=$word ;;
                    esac
                fi
            done
            if [[ -z $option && -z $after && $current == --*=* ]]; then
                option=${current%%=*} current=${current#*=}
            fi
            # Readline would replace only what follows the last = or :.
            case $current in *[=:]*) return ;; esac
            if [[ -n $option ]]; then
                case "$command $option" in
        \(cases(optionValues, indentedBy: 12))
                esac
            else
                case "$command $operands" in
        \(cases(operandValues, indentedBy: 12))
                esac
                if [[ ${#COMPREPLY[@]} == 0 && -z $after && (-z $current || $current == -*) ]]; then
                    case $command in
        \(optionCases)
                    esac
                fi
            fi
            return 0
        }

        complete -F _substitute substitute
        """
    }

    /// A command and an option, with the option's value.
    private var optionValues: [(words: String, value: Subcommand.Value)] {
        commands.flatMap { command in
            command.allOptions.compactMap { option in option.value.map { ("\(command.name) --\(option.name)", $0) } }
        }
    }

    /// A command and the number of operands before, with the operand's value.
    private var operandValues: [(words: String, value: Subcommand.Value)] {
        commands.flatMap { command in command.operandValues.enumerated().map { ("\(command.name) \($0)", $1) } }
    }

    private var optionCases: String {
        commands.map { command in
            let options = Self.words(command.allOptions.map { "--\($0.name)" })
            return "                \(command.name)) _substitute_words \"$current\" \(options) ;;"
        }.joined(separator: "\n")
    }

    /// Returns a case for each kind of suggestions.
    private func cases(_ values: [(words: String, value: Subcommand.Value)], indentedBy columns: Int) -> String {
        var kinds: [Subcommand.Value.Suggestions] = []
        for (_, value) in values where !kinds.contains(value.suggestions) { kinds.append(value.suggestions) }
        return kinds.compactMap { kind in
            let words = values.filter { $0.value.suggestions == kind }.map(\.words)
            return function(for: kind).map {
                "\(String(repeating: " ", count: columns))\(Self.pattern(words))) \($0) ;;"
            }
        }.joined(separator: "\n")
    }

    private func function(for suggestions: Subcommand.Value.Suggestions) -> String? {
        switch suggestions {
        case .none: nil
        case .files(nil): #"_substitute_names "$current" -f"#
        case .files(let name?):
            #"_substitute_names "$current" -d; _substitute_names "$current" -f -X \#(Shell.quoted("!*.\(name)"))"#
        case .folders: #"_substitute_names "$current" -d"#
        case .words(let words): #"_substitute_words "$current" \#(Self.words(words))"#
        case .commands: #"_substitute_words "$current" \#(Self.words(commands.map(\.name)))"#
        }
    }

    private static func pattern(_ alternatives: [String]) -> String {
        alternatives.map(Shell.word).joined(separator: " | ")
    }

    private static func words(_ words: [String]) -> String { words.map(Shell.word).joined(separator: " ") }
}

/// Completions for zsh.
private struct ZshCompletions {
    let commands: [Subcommand]

    var script: String {
        """
        #compdef substitute
        # To install: substitute completions zsh > ~/.zfunc/_substitute; then add ~/.zfunc to fpath in ~/.zshrc, before compinit.

        _substitute_commands() {
            local -a commands
            commands=(
        \(commands.map { "        " + Shell.quoted("\($0.name):\($0.summary)") }.joined(separator: "\n"))
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

    /// The case for a subcommand's arguments.
    private func arguments(of command: Subcommand) -> String {
        let options = command.allOptions.map(spec)
        let operands = command.operandValues.enumerated().map { index, value in
            Shell.quoted("\(index + 1)\(action(value))")
        }
        // Options may follow any operand.
        let lines = (["_arguments -S"] + options + operands + ["'*: : '"]).joined(separator: " \\\n                ")
        return "        \(command.name))\n            \(lines) ;;"
    }

    private func spec(_ option: Subcommand.Option) -> String {
        guard let value = option.value else { return Self.spec("--\(option.name)", ofFlag: option.help) }
        let mark = option.repeats ? "*" : ""
        return Shell.quoted("\(mark)--\(option.name)=[\(Self.escaped(option.help))]\(action(value))")
    }

    private static func spec(_ name: String, ofFlag help: String) -> String {
        Shell.quoted("\(name)[\(escaped(help))]")
    }

    /// A value's placeholder and what completes it, as `_arguments` reads them.
    private func action(_ value: Subcommand.Value) -> String {
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

/// Completions for fish.
private struct FishCompletions {
    let commands: [Subcommand]

    var script: String {
        let rules = commands.flatMap { command in
            [""] + command.allOptions.map { rule(for: $0, of: command) }
                + command.operandValues.enumerated().compactMap { rule(for: $1, after: $0, of: command) }
        }
        return """
            # To install: substitute completions fish > ~/.config/fish/completions/substitute.fish

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

    private func rule(for command: Subcommand) -> String {
        "complete -c substitute -n __substitute_is -a \(command.name) -d \(Self.quoted(command.summary))"
    }

    private static func rule(forStandalone option: String, _ help: String) -> String {
        "complete -c substitute -n __substitute_is -l \(option.dropFirst(2)) -d \(quoted(help))"
    }

    private func rule(for option: Subcommand.Option, of command: Subcommand) -> String {
        let condition = Self.quoted("__substitute_is \(command.name)")
        let value = option.value.map { " " + (suggest($0) ?? "-x") } ?? ""
        return "complete -c substitute -n \(condition) -l \(option.name)\(value) "
            + "-d \(Self.quoted(option.help))"
    }

    /// Returns the rule for an operand; `nil` if there are no suggestions.
    private func rule(for operand: Subcommand.Value, after number: Int, of command: Subcommand) -> String? {
        guard let suggestion = suggest(operand, isRequired: false) else { return nil }
        let taking = command.allOptions.filter { $0.value != nil }.map { " --\($0.name)" }
        let condition = "__substitute_operand \(command.name) \(number)\(taking.joined())"
        return "complete -c substitute -n \(Self.quoted(condition)) \(suggestion)"
    }

    /// Returns the options of `complete` that suggest a value; `nil` if there are no suggestions.
    private func suggest(_ value: Subcommand.Value, isRequired: Bool = true) -> String? {
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
