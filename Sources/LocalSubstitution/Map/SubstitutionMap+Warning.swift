extension SubstitutionMap {
    /// A part of a map that's valid, but probably isn't what you meant.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a warning, for use in code.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The kind's name, such as `unusedFile` for ``unusedFile``.
            public let rawValue: String

            /// Creates a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The resources folder has a file that no entry uses.
            public static var unusedFile: Kind { Kind(rawValue: "unusedFile") }
            /// A pattern never wins, because its file name is never valid, or because other patterns win for all its URLs.
            public static var neverWins: Kind { Kind(rawValue: "neverWins") }
            /// A part of an entry has no effect.
            ///
            /// - A `timeout` without `"use": "whenOffline"`.
            /// - A method in lowercase in `methods`, such as `get`. Clients send methods in uppercase.
            /// - In a session to which the cache isn't attached: a field such as `delay` or `forwardTo`, or a response
            ///   that URLSession doesn't accept from a cache. To attach the cache, call
            ///   ``LocalSubstitutionCache/attach(to:unmatched:)`` or ``LocalSubstitutionCache/install(unmatched:)``.
            public static var noEffect: Kind { Kind(rawValue: "noEffect") }
            /// A file's first bytes don't fit its MIME type.
            public static var contradictedType: Kind { Kind(rawValue: "contradictedType") }
            /// The letter case of a file's name differs between the map and the disk.
            public static var letterCase: Kind { Kind(rawValue: "letterCase") }
            /// A pattern matches every file of the resources folder.
            public static var catchAll: Kind { Kind(rawValue: "catchAll") }
            /// A key has a placeholder of another syntax, such as `:id`, `{id}` or `\d+`. Only `*` matches any text.
            public static var foreignSyntax: Kind { Kind(rawValue: "foreignSyntax") }
            /// A `delay` is so long that it looks like milliseconds.
            public static var longDelay: Kind { Kind(rawValue: "longDelay") }
        }

        /// What kind of warning it is, for use in code.
        public let kind: Kind
        /// The entry's key; `nil` for a warning that isn't about an entry.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map made in code, and for a warning that isn't about an entry.
        public let line: Int?
        /// What's probably wrong and how to fix it.
        public let message: String
        /// Whether the warning is only about sessions to which the cache isn't attached.
        package let needsAttachedSession: Bool

        /// The key, if any, and the message.
        public var description: String {
            (key.map { "“\($0)”: \(message)" } ?? message).printable
        }

        package init(_ kind: Kind, _ entry: Entry? = nil, _ message: String, needsAttachedSession: Bool = false) {
            self.kind = kind
            key = entry?.key
            line = entry?.lineInMap
            self.message = message
            self.needsAttachedSession = needsAttachedSession
        }
    }
}
