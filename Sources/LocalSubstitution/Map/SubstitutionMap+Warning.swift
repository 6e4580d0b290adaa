extension SubstitutionMap {
    /// A part of a map that's valid, but probably isn't what was meant.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a warning, for use in code.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The kind's name, such as `unusedFile` for ``unusedFile``.
            public let rawValue: String

            /// Creates a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The resources folder has a file that no entry uses.
            public static var unusedFile: Kind { Kind(rawValue: "unusedFile") }
            /// A pattern never answers, because its file name is never valid, or other patterns win all its URLs.
            public static var neverWins: Kind { Kind(rawValue: "neverWins") }
            /// URLSession's loader wouldn't accept the entry's response from a cache.
            public static var refusedByLoader: Kind { Kind(rawValue: "refusedByLoader") }
            /// The entry has a field that a cache alone can't implement, such as `delay` or `forwardTo`. It needs
            /// ``LocalSubstitutionCache/attach(to:unmatched:)`` or ``LocalSubstitutionCache/install(unmatched:)``.
            public static var needsProtocol: Kind { Kind(rawValue: "needsProtocol") }
            /// A file's first bytes don't fit its MIME type.
            public static var contradictedType: Kind { Kind(rawValue: "contradictedType") }
            /// The letter case of a file's name differs between the map and the disk.
            public static var letterCase: Kind { Kind(rawValue: "letterCase") }
            /// A pattern ends in an extension, and so doesn't match a URL with a query.
            public static var missesQuery: Kind { Kind(rawValue: "missesQuery") }
            /// A pattern serves every file of the resources folder.
            public static var catchAll: Kind { Kind(rawValue: "catchAll") }
            /// An entry forwards https requests to another machine over http.
            public static var insecureTarget: Kind { Kind(rawValue: "insecureTarget") }
            /// An entry forwards to a URL that matches the key of an entry with `forwardTo`. The request isn't
            /// forwarded a second time, since targets aren't looked up in the map.
            public static var forwardedTarget: Kind { Kind(rawValue: "forwardedTarget") }
            /// A pattern matches the URL of an exact key, and answers a method that the exact key's entry doesn't list.
            public static var methodOfPattern: Kind { Kind(rawValue: "methodOfPattern") }
            /// A key has a placeholder of another syntax, such as `:id`, `{id}` or `\d+`. Only `*` matches any text.
            public static var foreignSyntax: Kind { Kind(rawValue: "foreignSyntax") }
            /// A method is in lowercase, so it doesn't match requests.
            public static var methodCase: Kind { Kind(rawValue: "methodCase") }
            /// An entry has a `timeout`, but its `use` isn't `whenOffline`.
            public static var unusedTimeout: Kind { Kind(rawValue: "unusedTimeout") }
            /// A `delay` is so long that it looks like milliseconds.
            public static var longDelay: Kind { Kind(rawValue: "longDelay") }
        }

        /// The kind of warning.
        public let kind: Kind
        /// The entry's key; `nil` for a warning that isn't about an entry.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map made in code, and for a warning that isn't about an entry.
        public let line: Int?
        /// What's probably wrong and how to fix it.
        public let message: String

        /// The key, if any, and the message.
        public var description: String {
            (key.map { "“\($0)”: \(message)" } ?? message).printable
        }

        package init(_ kind: Kind, _ entry: Entry? = nil, _ message: String) {
            self.kind = kind
            key = entry?.key
            line = entry?.lineInMap
            self.message = message
        }
    }
}
