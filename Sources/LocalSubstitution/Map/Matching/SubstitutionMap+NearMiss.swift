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
            fileprivate var fix: String {
                switch self {
                case .scheme: "begin the key with *:// to match both schemes"
                case .host: "correct the host"
                case .port: "use the request's port, or :* for any"
                case .path: "correct the path of the key or of the request"
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

        /// Whether other keys differ from this one only in their queries.
        private var isOneOfSeveralQueries = false

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
                return "“\(key)” answers only \(methods.answered.listed()). Add \"methods\": [\"\(methods.asked)\"]."
            }
            let fixes = differences.map { $0 == .query ? queryFix : $0.fix }
            // Fixes have commas of their own, so there's one before the last, too.
            let advice = (fixes.count > 1 ? [fixes.dropLast().joined(separator: ", ")] : []) + fixes.suffix(1)
            return "“\(key)” differs only in \(differences.map(\.rawValue).listed()). "
                + "\(advice.joined(separator: ", and ").capitalizedFirst)."
        }

        /// How to correct a query. If a key has one, the response may depend on it.
        private var queryFix: String {
            let add = "add an entry for the request's query"
            if isOneOfSeveralQueries { return add }
            let ignore =
                plainFile.map { "write { \"file\": \(JSONText.string($0)), \"ignoreQuery\": true } as its value" }
                ?? "add \"ignoreQuery\": true"
            return Self.hasQuery(key) ? "\(add), or, if the response doesn't depend on it, \(ignore)" : ignore
        }

        private static func hasQuery(_ key: String) -> Bool { key.utf8.contains(UInt8(ascii: "?")) }

        /// Keeps only the first of several near misses that differ in their queries, if one of these keys has a query.
        /// With `ignoreQuery`, one of their responses would answer every query.
        static func withoutOtherQueries(_ misses: [Self]) -> [Self] {
            let differing = misses.filter { miss in
                miss.differences.contains(.query) && !miss.differences.contains { [.host, .path].contains($0) }
            }
            guard var first = differing.first, differing.count > 1, differing.contains(where: { hasQuery($0.key) })
            else {
                return misses
            }
            first.isOneOfSeveralQueries = true
            return misses.compactMap { $0.key == first.key ? first : differing.contains($0) ? nil : $0 }
        }
    }
}
