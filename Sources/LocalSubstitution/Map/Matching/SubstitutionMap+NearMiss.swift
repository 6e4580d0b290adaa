extension SubstitutionMap {
    /// A key that does not match a URL, but almost does.
    public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
        /// A part in which a key and a URL differ.
        public struct Difference: RawRepresentable, Sendable, Hashable {
            /// What differs, in a word or two.
            public let rawValue: String

            /// A difference by its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// `http` and `https`.
            public static let scheme = Difference(rawValue: "scheme")
            /// The host, by a few letters.
            public static let host = Difference(rawValue: "host")
            /// The port, or whether there is one.
            public static let port = Difference(rawValue: "port")
            /// The path, by a few letters.
            public static let path = Difference(rawValue: "path")
            /// The query, or whether there is one.
            public static let query = Difference(rawValue: "query")
            /// A slash at the end of the path.
            public static let trailingSlash = Difference(rawValue: "trailing slash")
            /// Capital and small letters in the path or query.
            public static let letterCase = Difference(rawValue: "letter case")
            /// The request's method, which the entry doesn't list.
            public static let method = Difference(rawValue: "method")

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
                default: "correct the \(rawValue)"
                }
            }
        }

        /// The key, as the map has it.
        public let key: String
        /// All differences; at least one.
        public let differences: [Difference]

        /// The methods that the entry answers, and the request's, if that is the difference.
        private let methods: Methods?

        private struct Methods: Sendable, Hashable {
            let answered: [String]
            let asked: String
        }

        init(key: String, differences: [Difference]) {
            self.key = key
            self.differences = differences
            methods = nil
        }

        /// A key none of whose alternatives answers a request's method.
        init(_ alternatives: [Entry], key: String, method: String) {
            self.key = key
            differences = [.method]
            var answered: [String] = []
            for name in alternatives.flatMap(\.options.methods) where !answered.contains(name) { answered.append(name) }
            methods = Methods(answered: answered, asked: method)
        }

        /// The key, the differences, and how to correct each.
        public var description: String {
            if let methods {
                let names = methods.answered.joined(separator: " and ")
                return "“\(key)” answers only \(names): add \"methods\": [\"\(methods.asked)\"]"
            }
            let names = differences.map(\.rawValue).joined(separator: " and ")
            return "“\(key)” differs only in \(names): \(differences.map(\.fix).joined(separator: ", and "))"
        }
    }
}
