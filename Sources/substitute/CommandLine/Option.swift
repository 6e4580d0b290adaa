/// An option that a subcommand knows: `--name`, or `--name VALUE`.
struct Option: Sendable {
    let name: String
    /// The kind of value; `nil` for a flag.
    let value: ArgumentValue?
    let help: String
    /// Whether it may be given more than once.
    var repeats = false
}
