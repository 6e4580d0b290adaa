/// An option that a subcommand knows: `--name`, or `--name VALUE`.
struct Option: Sendable {
    let name: String
    /// What stands for the value in help texts; `nil` for a flag.
    let value: String?
    let help: String
    /// Whether it may be given more than once.
    var repeats = false
}
