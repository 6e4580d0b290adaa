/// Completions for bash. They use nothing that bash 3.2, the one of macOS, lacks.
struct BashCompletions: Sendable {
    let commands: [CompletedCommand]

    var script: String {
        """
        # To install: \(CompletingShell.bash.installation)

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
                _substitute_words "$current" \(Self.words(names + CompletingShell.standalone.map(\.key)))
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
                        \(optionsWithValue)) option=$word ;;
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
        \(Self.indented(valueCases, by: 12))
                esac
            else
                case "$command $operands" in
        \(Self.indented(operandCases, by: 12))
                esac
                if [[ ${#COMPREPLY[@]} == 0 && -z $after && (-z $current || $current == -*) ]]; then
                    case $command in
        \(Self.indented(optionCases, by: 16))
                    esac
                fi
            fi
            return 0
        }

        complete -F _substitute substitute
        """
    }

    private var names: [String] { commands.map(\.name) }

    /// A pattern for a command and an option that takes a value.
    private var optionsWithValue: String {
        Self.pattern(
            commands.flatMap { command in
                command.options.filter { $0.value != nil }.map { "\(command.name) --\($0.name)" }
            }
        )
    }

    private var valueCases: [String] {
        cases(
            commands.flatMap { command in
                command.options.compactMap { option in option.value.map { ("\(command.name) --\(option.name)", $0) } }
            }
        )
    }

    /// The cases for a command and the number of operands before.
    private var operandCases: [String] {
        cases(
            commands.flatMap { command in
                command.operands.enumerated().map { ("\(command.name) \($0)", $1) }
            }
        )
    }

    private var optionCases: [String] {
        commands.map { command in
            "\(command.name)) _substitute_words \"$current\" \(Self.words(command.options.map { "--\($0.name)" })) ;;"
        }
    }

    /// Returns a case for each kind of suggestions.
    private func cases(_ values: [(words: String, value: ArgumentValue)]) -> [String] {
        var kinds: [ArgumentValue.Suggestions] = []
        for value in values where !kinds.contains(value.value.suggestions) { kinds.append(value.value.suggestions) }
        return kinds.compactMap { kind in
            let words = values.filter { $0.value.suggestions == kind }.map(\.words)
            return function(for: kind).map { "\(Self.pattern(words))) \($0) ;;" }
        }
    }

    private func function(for suggestions: ArgumentValue.Suggestions) -> String? {
        switch suggestions {
        case .none: nil
        case .files(nil): #"_substitute_names "$current" -f"#
        case .files(let name?):
            #"_substitute_names "$current" -d; _substitute_names "$current" -f -X \#(ShellWord.quoted("!*.\(name)"))"#
        case .folders: #"_substitute_names "$current" -d"#
        case .words(let words): #"_substitute_words "$current" \#(Self.words(words))"#
        case .commands: #"_substitute_words "$current" \#(Self.words(names))"#
        }
    }

    private static func pattern(_ alternatives: [String]) -> String {
        alternatives.map(ShellWord.text).joined(separator: " | ")
    }

    private static func words(_ words: [String]) -> String {
        words.map(ShellWord.text).joined(separator: " ")
    }

    private static func indented(_ lines: [String], by columns: Int) -> String {
        lines.map { String(repeating: " ", count: columns) + $0 }.joined(separator: "\n")
    }
}
