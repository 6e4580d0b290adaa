extension SubstitutionMap {
    /// A key that does not match a URL, but almost does.
    public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
        /// In what a key and a URL differ.
        public enum Difference: String, Sendable, Hashable, CaseIterable {
            /// `http` and `https`.
            case scheme
            /// The host, by a few letters.
            case host
            /// The port, or that one is written.
            case port
            /// The path, by a few letters.
            case path
            /// The query, or that there is one.
            case query
            /// A slash at the end of the path.
            case trailingSlash = "trailing slash"
            /// Capital and small letters in the path or query.
            case letterCase = "letter case"

            /// How to correct it.
            fileprivate var fix: String {
                switch self {
                case .scheme: "begin the key with *:// to match both schemes"
                case .host: "correct the host"
                case .port: "write the request's port, or :* for any"
                case .path: "correct the path"
                case .query: "add “ignoreQuery”: true"
                case .trailingSlash: "add or remove the slash at the end of the key's path"
                case .letterCase: "use capital and small letters as the request does"
                }
            }
        }

        /// The key, as the map has it.
        public let key: String
        /// All differences; at least one.
        public let differences: [Difference]

        /// The key, the differences, and how to correct each.
        public var description: String {
            let names = differences.map(\.rawValue).joined(separator: " and ")
            return "“\(key)” differs only in \(names): \(differences.map(\.fix).joined(separator: ", and "))"
        }
    }
}
