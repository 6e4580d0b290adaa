import Foundation

/// Why something can't be done, and the fix.
///
/// It's a reference, since it's thrown through many functions, each of which would copy a longer value.
package final class Complaint: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// The kind, for code that handles the complaint; empty if no code does.
    package let kind: String
    /// The key of the entry that's the reason; `nil` if no entry is.
    package let key: String?
    /// What's wrong and the fix, in sentences; for the middle of a sentence, a clause without a period.
    package let description: String
    /// The ``description`` without the fix, as a clause without a period, if the complaint was created with a separate
    /// fix; otherwise, all of the description.
    package let statement: String

    package var errorDescription: String? { description }

    /// - Parameter fix: How to fix it, in sentences; `nil`, the default, if `statement` is the whole text.
    package init(kind: String = "", key: String? = nil, _ statement: String, fix: String? = nil) {
        (self.kind, self.key, self.statement) = (kind, key, statement)
        description = fix.map { "\(statement). \($0)" } ?? statement
    }

    /// The text may quote a map, a file or a server, so it's made ``Swift/String/printable``.
    package convenience init(printable text: String) { self.init(text.printable) }

    package static func == (one: Complaint, other: Complaint) -> Bool {
        one.kind == other.kind && one.key == other.key && one.description == other.description
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
