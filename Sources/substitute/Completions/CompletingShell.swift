/// A shell that the command has completions for.
enum CompletingShell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// Returns the script that completes these subcommands.
    func script(for commands: [CompletedCommand]) -> String {
        switch self {
        case .bash: BashCompletions(commands: commands).script
        case .zsh: ZshCompletions(commands: commands).script
        case .fish: FishCompletions(commands: commands).script
        }
    }

    /// The options that `substitute` takes in place of a subcommand, with their descriptions.
    static let standalone: KeyValuePairs = ["--help": "print an overview", "--version": "print the version"]

    /// How to install the script, in one line.
    var installation: String {
        switch self {
        case .bash:
            "substitute completions bash > ~/.substitute.bash; then source that file in ~/.bashrc."
        case .zsh:
            "substitute completions zsh > ~/.zfunc/_substitute; then add ~/.zfunc to fpath in ~/.zshrc, before compinit."
        case .fish: "substitute completions fish > ~/.config/fish/completions/substitute.fish"
        }
    }
}
