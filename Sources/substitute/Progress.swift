import Foundation

/// One line on a terminal that says how far something is, and is gone in the end. Nothing where standard error is none.
struct Progress: Sendable {
    private let isShown = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    func show(_ text: String) { write("\r\u{1B}[K\(text)") }

    func end() { write("\r\u{1B}[K") }

    private func write(_ text: String) {
        guard isShown else { return }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
