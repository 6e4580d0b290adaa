extension SubstitutionMap {
    /// One thing that is wrong with a map.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The kind of problem, for programs.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// A kind by its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The map's file is missing or can't be read.
            public static let unreadableMap = Kind(rawValue: "unreadableMap")
            /// The map isn't JSON.
            public static let syntax = Kind(rawValue: "syntax")
            /// The map is JSON, but not an object.
            public static let notAnObject = Kind(rawValue: "notAnObject")
            /// An entry has a file, and there is no resources folder.
            public static let noResources = Kind(rawValue: "noResources")
            /// A key, a field or a header is given twice, or two keys are the same URL.
            public static let duplicate = Kind(rawValue: "duplicate")
            /// A key is neither a URL nor a match pattern.
            public static let invalidKey = Kind(rawValue: "invalidKey")
            /// A key begins with `$` and isn't known.
            public static let reservedKey = Kind(rawValue: "reservedKey")
            /// A value has the wrong type.
            public static let wrongType = Kind(rawValue: "wrongType")
            /// An entry has a field that isn't known.
            public static let unknownField = Kind(rawValue: "unknownField")
            /// A field has a value that it can't have.
            public static let invalidValue = Kind(rawValue: "invalidValue")
            /// A header has a name or value that HTTP doesn't allow, or that an entry must not set.
            public static let invalidHeader = Kind(rawValue: "invalidHeader")
            /// Fields contradict each other, or a field can't be where it is.
            public static let conflict = Kind(rawValue: "conflict")
            /// An alternative answers no request, since an earlier one answers them all.
            public static let neverReached = Kind(rawValue: "neverReached")
            /// An entry has nothing to answer with: no file, body, status, error or target.
            public static let noFile = Kind(rawValue: "noFile")
            /// A file has a name that a map can't have.
            public static let invalidFileName = Kind(rawValue: "invalidFileName")
            /// A file doesn't exist.
            public static let missingFile = Kind(rawValue: "missingFile")
            /// A file is outside the resources folder.
            public static let outsideFolder = Kind(rawValue: "outsideFolder")
            /// A file is a folder, a pipe or the like.
            public static let notRegularFile = Kind(rawValue: "notRegularFile")
            /// A file exists, but can't be read.
            public static let unreadableFile = Kind(rawValue: "unreadableFile")
        }

        /// The kind of problem.
        public let kind: Kind
        /// The entry's key; `nil` for a problem with the map as a whole.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map that was made in code.
        public let line: Int?
        /// The column in characters, from 1, of a syntax error.
        public let column: Int?
        /// What is wrong and what to do.
        public let message: String

        /// The key, if there is one, and the message.
        public var description: String {
            (key.map { "“\($0)”: \(message)" } ?? message).printable
        }

        init(_ kind: Kind, key: String? = nil, line: Int? = nil, column: Int? = nil, _ message: String) {
            self.kind = kind
            self.key = key
            self.line = line
            self.column = column
            self.message = message
        }

        init(_ kind: Kind, _ entry: Entry, _ message: String) {
            self.init(kind, key: entry.key, line: entry.lineInMap, message)
        }

        /// Whether not even a part of the map can be used.
        var isFatal: Bool { [.unreadableMap, .syntax, .notAnObject].contains(kind) }
    }
}
