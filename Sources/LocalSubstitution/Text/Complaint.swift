import Foundation

/// Why something can't be done, and the fix.
///
/// It's a reference, since it's thrown through many functions, each of which would copy a longer value.
package final class Complaint: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// The kind, for code that handles the complaint; empty if no code does.
    package let kind: String
    /// The key of the entry that's the reason; `nil` if no entry is.
    package let key: String?
    /// The offset of the byte with the mistake, if the complaint is about JSON text; otherwise, 0.
    package let offset: Int
    /// What's wrong and the fix, in sentences; for the middle of a sentence, a clause without a period.
    package let description: String
    /// The ``description`` without the fix, as a clause without a period, if the complaint was created with a separate
    /// fix; otherwise, all of the description.
    package let statement: String
    private let fix: String?

    /// The statement and, after a colon, the fix, without a period, for a label or the middle of a sentence.
    package var fragment: String {
        guard let fix, !fix.isEmpty else { return statement }
        return "\(statement): \(fix.prefix(1).lowercased())\(fix.dropFirst().dropLast())"
    }

    package var errorDescription: String? { description }

    /// - Parameter fix: How to fix it, in sentences; empty if no fix is known. In both cases, `statement` is a clause
    ///   without a period. With `nil`, the default, `statement` is the whole text.
    @inline(never)  // Otherwise, some fifty callers would each contain a copy.
    package init(kind: String = "", key: String? = nil, offset: Int = 0, _ statement: String, fix: String? = nil) {
        (self.kind, self.key, self.offset, self.statement) = (kind, key, offset, statement)
        self.fix = fix
        description = fix.map { "\(statement).\($0.isEmpty ? "" : " ")\($0)" } ?? statement
    }

    /// The text may quote a map, a file or a server, so it's made ``Swift/String/printable``.
    package convenience init(printable text: String) { self.init(text.printable) }

    package static func == (one: Complaint, other: Complaint) -> Bool {
        (one.kind, one.key, one.offset, one.description) == (other.kind, other.key, other.offset, other.description)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
