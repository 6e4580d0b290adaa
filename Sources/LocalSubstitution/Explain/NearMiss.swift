/// A key that does not match a URL, but almost does.
public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
    /// In what a key and a URL differ.
    public enum Difference: String, Sendable, Hashable, CaseIterable {
        /// `http` and `https`.
        case scheme
        /// A few letters of the host.
        case host
        /// The port, or that one is written.
        case port
        /// A few letters of the path.
        case path
        /// The query, or that there is one.
        case query
        /// A slash at the end of the path.
        case trailingSlash = "trailing slash"
        /// Capital and small letters in the path or query.
        case letterCase = "letter case"

        /// What to do about it.
        fileprivate var fix: String {
            switch self {
            case .scheme: "begin the key with *:// for both schemes"
            case .host: "correct the host"
            case .port: "write the request's port, or :* for any"
            case .path: "correct the path"
            case .query: "add “ignoreQuery”: true"
            case .trailingSlash: "add or remove the slash at the end of its path"
            case .letterCase: "write capital and small letters as the request does"
            }
        }
    }

    /// The key, as the map has it.
    public let key: String
    /// All differences; at least one.
    public let differences: [Difference]

    /// The key, the differences, and what to do about each.
    public var description: String {
        let names = differences.map(\.rawValue).joined(separator: " and ")
        return "“\(key)” differs only in \(names): \(differences.map(\.fix).joined(separator: ", and "))"
    }
}
