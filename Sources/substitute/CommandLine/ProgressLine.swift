import Foundation
import Guarded

/// A line on standard error that shows progress and disappears at the end. It's only shown on a terminal.
final class ProgressLine: Sendable {
    private let shown = Guarded<Stopwatch?>(nil)
    private let isOnTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// Shows a text in place of the last one, at most ten times a second.
    func show(_ text: @autoclosure () -> String) {
        guard isOnTerminal else { return }
        let isDue = shown.withLock { shown in
            if let shown, shown.milliseconds < 100 { return false }
            shown = Stopwatch()
            return true
        }
        if isDue { Output.progress(text()) }
    }

    func end() {
        if shown.withLock({ $0 != nil }) { Output.progress("") }
    }
}
