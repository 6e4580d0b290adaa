/// An error that ends the command, with its exit status. The description says what's wrong, and what to do.
struct Failure: Error, CustomStringConvertible {
    let description: String
    let status: Subcommand.ExitStatus

    /// Creates an error with the status `failed`.
    init(_ description: String) {
        self.description = description
        status = .failed
    }

    /// Creates an error for an invalid command line, with the status `usage`.
    init(usage description: String) {
        self.description = description
        status = .usage
    }
}
