extension SubstitutionMap {
    /// A key that doesn't match a request, but almost does.
    public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
        /// A way in which an entry and a request differ.
        public struct Difference: RawRepresentable, Sendable, Hashable {
            /// What differs, in a word or two.
            public let rawValue: String

            /// Creates a difference from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The scheme, `http` or `https`.
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
            /// Uppercase and lowercase letters in the path or query.
            public static let letterCase = Difference(rawValue: "letter case")
            /// The request's method, which the entry doesn't list.
            public static let method = Difference(rawValue: "method")

            /// How to correct it.
            ///
            /// - Parameter plainFile: The entry's value, if that's only a file name.
            fileprivate func fix(_ plainFile: String?) -> String {
                switch self {
                case .scheme: "begin the key with *:// to match both schemes"
                case .host: "correct the host"
                case .port: "use the request's port, or :* for any"
                case .path: "correct the path of the key or of the request"
                case .query:
                    plainFile.map { "write { \"file\": \(JSONText.string($0)), \"ignoreQuery\": true } as its value" }
                        ?? "add \"ignoreQuery\": true"
                case .trailingSlash: "add or remove the slash at the end of the key's path"
                case .letterCase: "match the request's letter case"
                default: "correct the \(rawValue)"
                }
            }
        }

        /// The key, as written in the map.
        public let key: String
        /// All differences. There's at least one.
        public let differences: [Difference]

        /// The entry's value, if that's only a file name.
        private let plainFile: String?
        /// The methods that the entry answers, and the request's, if the method is the difference.
        private let methods: Methods?

        private struct Methods: Sendable, Hashable {
            let answered: [String]
            let asked: String
        }

        /// Creates a near miss for an entry's key.
        init(_ entry: Entry, differences: [Difference]) {
            key = entry.key
            self.differences = differences
            plainFile = entry.options.isPlain ? entry.file?.text : nil
            methods = nil
        }

        /// Creates a near miss for a key with no alternative that answers a request's method.
        init(_ alternatives: [Entry], key: String, method: String) {
            self.key = key
            differences = [.method]
            plainFile = nil
            var answered: [String] = []
            for name in alternatives.flatMap(\.options.methods) where !answered.contains(name) { answered.append(name) }
            methods = Methods(answered: answered, asked: method)
        }

        /// The key, the differences, and how to correct each.
        public var description: String {
            if let methods {
                let names = methods.answered.joined(separator: " and ")
                return "“\(key)” answers only \(names). Add \"methods\": [\"\(methods.asked)\"]."
            }
            let names = differences.map(\.rawValue).joined(separator: " and ")
            let fixes = differences.map { $0.fix(plainFile) }.joined(separator: ", and ")
            return "“\(key)” differs only in \(names). \(fixes.capitalizedFirst)."
        }
    }
}
