/// Something failed, or what was typed can't be understood. The description says what, and what to do.
struct Failure: Error, CustomStringConvertible {
    let description: String
    let status: ExitStatus

    init(_ description: String) {
        self.description = description
        status = .failed
    }

    init(usage description: String) {
        self.description = description
        status = .usage
    }
}
