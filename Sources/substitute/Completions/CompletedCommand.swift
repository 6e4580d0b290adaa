/// A subcommand, as completions need it.
struct CompletedCommand: Sendable {
    let name: String
    let summary: String
    let options: [Option]
    /// The operands, in order.
    let operands: [ArgumentValue]
}
