/// What somebody typed that can't be understood, and what to do.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
