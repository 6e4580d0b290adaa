let completionsCommand = Subcommand(
    name: "completions",
    operands: "SHELL",
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
    operandValues: [.oneOf(CompletingShell.allCases.map(\.rawValue), placeholder: "SHELL")],
    run: completions
)

private func completions(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard let name = arguments.operands.first, arguments.operands.count == 1 else {
        throw Failure(usage: "Name one shell: bash, zsh or fish.")
    }
    guard let shell = CompletingShell(rawValue: name) else {
        throw Failure(usage: "There are no completions for “\(name)”. Name bash, zsh or fish.")
    }
    output.help(shell.script(for: Subcommand.all))
    return .done
}
