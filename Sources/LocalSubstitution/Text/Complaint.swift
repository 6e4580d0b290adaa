import Foundation

/// Why something can't be done: what's wrong and, if it isn't part of that text, the fix.
///
/// It's a reference, since it's thrown through many functions, each of which would copy a longer value. Its texts are made
/// only when something is wrong.
package final class Complaint: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// The kind, for code and for `--json`; empty if neither needs it.
    package let kind: String
    /// The key of the entry that's the reason; `nil` if no entry is.
    package let key: String?
    /// What's wrong: a clause without a period if there's a fix or if the text is for the middle of a sentence; otherwise,
    /// sentences.
    package let statement: String
    /// The fix, in sentences; `nil` if there's none, or if ``statement`` says it.
    private let fix: String?

    package init(kind: String = "", key: String? = nil, _ statement: String, _ fix: String? = nil) {
        (self.kind, self.key, self.statement, self.fix) = (kind, key, statement, fix)
    }

    /// Creates a complaint with a text that may quote a map, a file or a server: see ``Swift/String/printable``.
    package convenience init(printable text: String) { self.init(text.printable) }

    /// What's wrong and the fix.
    package var description: String { fix.map { "\(statement). \($0)" } ?? statement }

    package var errorDescription: String? { description }

    package static func == (one: Complaint, other: Complaint) -> Bool {
        one.kind == other.kind && one.key == other.key && one.statement == other.statement && one.fix == other.fix
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(statement)
    }
}
