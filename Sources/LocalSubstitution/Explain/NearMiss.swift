/// A key that does not match a URL, but almost does.
public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
    /// In what a key and a URL differ.
    public enum Difference: String, Sendable, Hashable, CaseIterable {
        /// `http` and `https`.
        case scheme
        /// The port, or that one is written.
        case port
        /// The query, or that there is one.
        case query
        /// A slash at the end of the path.
        case trailingSlash = "trailing slash"
        /// Capital and small letters in the path or query.
        case letterCase = "letter case"
    }

    /// The key, as the map has it.
    public let key: String
    /// All differences; at least one.
    public let differences: [Difference]

    /// The key and the differences, readable.
    public var description: String {
        "“\(key)” differs only in \(differences.map(\.rawValue).joined(separator: " and "))"
    }
}
