extension SubstitutionMap {
    /// Something about a map that isn't an error, but probably not what was meant.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The kind of warning, for programs.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// A kind by its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// No entry names a file of the resources folder.
            public static let unusedFile = Kind(rawValue: "unusedFile")
            /// A pattern never applies, or others that match the same come first.
            public static let neverWins = Kind(rawValue: "neverWins")
            /// The loader wouldn't take the entry's response from a cache.
            public static let refusedByLoader = Kind(rawValue: "refusedByLoader")
            /// The entry says something that only an attached session does, such as `delay` or `forwardTo`.
            public static let needsProtocol = Kind(rawValue: "needsProtocol")
            /// A file's first bytes don't fit its MIME type.
            public static let contradictedType = Kind(rawValue: "contradictedType")
            /// A file's name differs from the disk's in upper and lower case.
            public static let letterCase = Kind(rawValue: "letterCase")
            /// A pattern ends in an extension, and so doesn't match a URL with a query.
            public static let missesQuery = Kind(rawValue: "missesQuery")
            /// A pattern serves every file of the resources folder.
            public static let catchAll = Kind(rawValue: "catchAll")
            /// Requests by https are sent to another host by http.
            public static let insecureTarget = Kind(rawValue: "insecureTarget")
            /// A target is itself forwarded by the map, but isn't looked up again.
            public static let forwardedTarget = Kind(rawValue: "forwardedTarget")
            /// A pattern answers a method that an exact key doesn't list.
            public static let methodOfPattern = Kind(rawValue: "methodOfPattern")
        }

        /// The kind of warning.
        public let kind: Kind
        /// The entry's key; `nil` for a warning that isn't about an entry.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map that was made in code, and for a warning that isn't about an entry.
        public let line: Int?
        /// What is odd and what to do.
        public let message: String

        /// The key, if there is one, and the message.
        public var description: String {
            (key.map { "“\($0)”: \(message)" } ?? message).printable
        }

        init(_ kind: Kind, _ entry: Entry? = nil, _ message: String) {
            self.kind = kind
            key = entry?.key
            line = entry?.lineInMap
            self.message = message
        }
    }
}
