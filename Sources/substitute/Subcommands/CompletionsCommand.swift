import LocalSubstitution

let completionsCommand = Subcommand(
    name: "completions",
    operands: [Subcommand.Value("SHELL", Subcommand.CompletingShell.allCases.map(\.rawValue))],
    summary: "print completions for bash, zsh or fish",
    details: """
        Prints a script that completes commands, options and files. Install it for your
        shell, and start a new one. For bash:

            substitute completions bash > ~/.substitute.bash
            echo 'source ~/.substitute.bash' >> ~/.bashrc     # macOS: ~/.bash_profile

        For zsh, with the second line in ~/.zshrc:

            mkdir -p ~/.zfunc && substitute completions zsh > ~/.zfunc/_substitute
            fpath=(~/.zfunc $fpath); autoload -Uz compinit && compinit

        For fish:

            mkdir -p ~/.config/fish/completions
            substitute completions fish > ~/.config/fish/completions/substitute.fish
        """,
    usesMap: false,
    run: completions
)

private func completions(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard let name = arguments.operands.first, arguments.operands.count == 1 else {
        throw Complaint(usage: "Name one shell: bash, zsh or fish.")
    }
    guard let shell = Subcommand.CompletingShell(rawValue: name) else {
        throw Complaint(usage: "There are no completions for “\(name)”. Name bash, zsh or fish.")
    }
    output.help(shell.script)
    return .done
}

extension Subcommand {
    /// Returns suggestions for the last word of a command line. They needn't begin with what the user has typed of this
    /// word, since the shell leaves out the ones that don't.
    ///
    /// A suggestion is a word, or a word with a tab and a description. It can also be a pattern such as `*` or
    /// `*.json`: the shell then suggests folders, and files whose names match. With the pattern `*/`, it suggests only
    /// folders.
    ///
    /// - Parameter line: The words of the command line. The last one is the word to complete, which may be empty.
    static func suggestions(for line: [String]) -> [String] {
        guard line.count > 2, let current = line.last else {
            return all.map(\.suggestion) + ["--help\tprint an overview", "--version\tprint the version"]
        }
        guard let command = all.first(where: { $0.name == line[1] }) else { return [] }
        let options = command.allOptions
        func valueOfOption(_ word: some StringProtocol) -> Value? { options.first { "--\($0.name)" == word }?.value }
        let earlier = line.dropFirst(2).dropLast()
        // The kind of value to complete, if the word before it is an option that takes a value; otherwise, `nil`.
        var value: Value?
        var operands = 0
        var hasOnlyOperands = false
        for word in earlier {
            if value != nil {
                value = nil
            } else if hasOnlyOperands || !word.hasPrefix("-") {
                operands += 1
            } else if word == "--" {
                hasOnlyOperands = true
            } else {
                value = valueOfOption(word)
            }
        }
        if let value { return value.suggestions() }
        if !hasOnlyOperands, current.hasPrefix("--"), let end = current.firstIndex(of: "=") {
            return valueOfOption(current[..<end])?.suggestions() ?? []
        }
        if hasOnlyOperands || !current.hasPrefix("-") {
            let lines = command.operands.dropFirst(operands).first?.suggestions() ?? []
            if hasOnlyOperands || !current.isEmpty || !lines.isEmpty { return lines }
        }
        return options.filter { option in
            option.repeats || !earlier.contains { $0 == "--\(option.name)" || $0.hasPrefix("--\(option.name)=") }
        }.map { "--\($0.name)\t\($0.help)" }
    }

    var suggestion: String { "\(name)\t\(summary)" }

    /// A shell for which the command prints a completion script. The script gets suggestions from the command, and file
    /// names from the shell.
    enum CompletingShell: String, CaseIterable, Sendable {
        case bash, zsh, fish

        var script: String {
            switch self {
            // macOS has bash 3.2, so the script uses no later feature.
            case .bash:
                #"""
                # To install: substitute completions bash > ~/.substitute.bash; then source that file in ~/.bashrc.

                _substitute() {
                    local line=${COMP_LINE:0:COMP_POINT} blanks current word name quotes=''
                    local -a words=()
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
                    current=${words[${#words[@]}-1]}
                    if [[ $current == --*=* ]]; then current=${current#*=}; fi
                    # Readline would replace only what follows the last = or :.
                    case $current in *[=:]*) return ;; esac
                    while IFS=$'\t' read -r word _; do
                        case $word in
                            '*'*)
                                # Makes readline quote names. Bash 3.2 lacks it.
                                compopt -o filenames 2>/dev/null || quotes=missing
                                while IFS= read -r name; do
                                    if [[ -n $quotes ]]; then printf -v name %q "$name"; fi
                                    COMPREPLY+=("$name")
                                done < <(compgen -d -- "$current" || :; compgen -f -X "!$word" -- "$current")
                                ;;
                            "$current"*) COMPREPLY+=("$word") ;;
                        esac
                    done < <(substitute __complete "${words[@]}" 2>/dev/null)
                    return 0
                }

                complete -F _substitute substitute
                """#
            case .zsh:
                #"""
                #compdef substitute
                # To install: substitute completions zsh > ~/.zfunc/_substitute; then add ~/.zfunc to fpath in ~/.zshrc, before compinit.

                _substitute() {
                    local line
                    local -a lines described
                    lines=("${(@f)$(substitute __complete "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
                    # Options only after a hyphen, as zsh itself does it.
                    [[ -n $PREFIX ]] || lines=(${lines:#-*})
                    compset -P '--[a-z-]##='
                    for line in $lines; do
                        case $line in
                            '*/') _files -/ ;;
                            '*'*) _files -g $line ;;
                            *) described+=("${line/$'\t'/:}") ;;
                        esac
                    done
                    _describe suggestion described
                }

                # An autoloaded file is the function's body. A sourced one isn't.
                if [[ ${funcstack[1]-} == _substitute ]]; then
                    _substitute "$@"
                elif (( ${+functions[compdef]} )); then
                    compdef _substitute substitute
                fi
                """#
            case .fish:
                #"""
                # To install: substitute completions fish > ~/.config/fish/completions/substitute.fish

                function __substitute
                    set -l current (commandline -ct)
                    set -l option (string match -r -- '^--[a-z-]+=' "$current")
                    set -l start (string replace -- "$option" '' "$current")
                    for line in (substitute __complete (commandline -opc) "$current" 2>/dev/null)
                        if string match -q -- '\**' $line
                            set -l ending (string escape --style=regex -- (string sub -s 2 -- $line))
                            # For a command that doesn't exist, fish suggests files.
                            complete -C "'' $start" | string match -r -- '.*/$|.*'$ending'$' | string replace -r -- '^' "$option"
                        else if test -n "$current"; or not string match -q -- '-*' $line
                            # Options only after a hyphen, as fish itself does it.
                            echo "$option$line"
                        end
                    end
                end

                complete -c substitute -f -a '(__substitute)'
                """#
            }
        }
    }
}
