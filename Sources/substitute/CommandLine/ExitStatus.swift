/// The exit status of the process.
enum ExitStatus: Int32, Sendable {
    case done = 0
    /// Something failed, or `check` found an error.
    case failed = 1
    /// The command line can't be understood (`EX_USAGE` of sysexits.h).
    case usage = 64
    /// Nothing seems wrong, but not everything could be reached (`EX_TEMPFAIL`).
    case tryAgain = 75
}
