/// An error that ends the command: something failed, or the command line can't be understood. The description says what's wrong and
/// what to do.
struct Failure: Error, CustomStringConvertible {
    let description: String
    let status: Subcommand.ExitStatus

    init(_ description: String) {
        self.description = description
        status = .failed
    }

    init(usage description: String) {
        self.description = description
        status = .usage
    }
}
