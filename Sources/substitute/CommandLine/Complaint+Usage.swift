import LocalSubstitution

extension Complaint {
    /// Creates a complaint about the command line, which ends the command with the status `usage`.
    convenience init(usage text: String) { self.init(kind: Self.usage, text) }

    /// Whether the command line is invalid. Any other complaint ends the command with the status `failed`.
    var isOfUsage: Bool { kind == Self.usage }

    private static let usage = "usage"
}
