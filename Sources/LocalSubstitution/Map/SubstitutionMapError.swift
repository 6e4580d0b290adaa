public import Foundation

/// An error that lists every problem with a map, not only the first.
public struct SubstitutionMapError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The map's file; `nil` for a map that wasn't loaded from a file.
    public let file: URL?
    /// The problems, in the order of their lines. Never empty.
    public let problems: [SubstitutionMap.Problem]

    package init(file: URL?, problems: [SubstitutionMap.Problem]) {
        self.file = file
        self.problems = problems
    }

    /// All problems, ready to print, one on each line. Each has the map's file name, the line, column and key if
    /// they're known, what's wrong, and how to fix it.
    public var description: String {
        let name = file?.lastPathComponent ?? "map"
        return problems.map { problem in
            let place = [problem.line, problem.column].compactMap { $0.map(String.init) }
            return ([name] + place).joined(separator: ":") + ": error: \(problem)"
        }.joined(separator: "\n")
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SubstitutionMap {
    /// One problem with a map.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The kind of a problem, for use in code.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The kind's name, such as `duplicate` for ``duplicate``.
            public let rawValue: String

            /// Creates a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The map's file is missing or can't be read.
            public static let unreadableMap = Kind(rawValue: "unreadableMap")
            /// The map isn't JSON, is nested too deeply, or has a number whose exponent has more than 4 digits.
            public static let syntax = Kind(rawValue: "syntax")
            /// The map is JSON, but not an object.
            public static let notAnObject = Kind(rawValue: "notAnObject")
            /// Entries use files, but there's no resources folder.
            public static let noResources = Kind(rawValue: "noResources")
            /// A key, field, header or parameter is given twice, or two keys spell the same URL or pattern differently.
            public static let duplicate = Kind(rawValue: "duplicate")
            /// A key is neither a URL nor a match pattern.
            public static let invalidKey = Kind(rawValue: "invalidKey")
            /// An unknown key begins with `$`.
            public static let reservedKey = Kind(rawValue: "reservedKey")
            /// A value has the wrong type.
            public static let wrongType = Kind(rawValue: "wrongType")
            /// An entry has an unknown field.
            public static let unknownField = Kind(rawValue: "unknownField")
            /// A field's value isn't allowed.
            public static let invalidValue = Kind(rawValue: "invalidValue")
            /// A header has a name or value that HTTP doesn't allow, or that an entry must not set.
            public static let invalidHeader = Kind(rawValue: "invalidHeader")
            /// Fields contradict each other, or a field isn't allowed where it's written.
            public static let conflict = Kind(rawValue: "conflict")
            /// An alternative never answers, since an earlier one answers all its requests.
            public static let neverReached = Kind(rawValue: "neverReached")
            /// An entry has no answer, such as a file, body, status or error.
            public static let noFile = Kind(rawValue: "noFile")
            /// A file's name isn't allowed in a map.
            public static let invalidFileName = Kind(rawValue: "invalidFileName")
            /// A file doesn't exist.
            public static let missingFile = Kind(rawValue: "missingFile")
            /// A file is outside the resources folder.
            public static let outsideFolder = Kind(rawValue: "outsideFolder")
            /// A file isn't a regular file, but a folder or a pipe, for example.
            public static let notRegularFile = Kind(rawValue: "notRegularFile")
            /// A file exists, but can't be read.
            public static let unreadableFile = Kind(rawValue: "unreadableFile")
        }

        /// The kind of problem.
        public let kind: Kind
        /// The entry's key; `nil` for a problem with the map as a whole.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map made in code, and for a problem that has no line.
        public let line: Int?
        /// The column, from 1, counted in characters, if the map isn't valid JSON or isn't an object; otherwise, `nil`.
        public let column: Int?
        /// What's wrong and how to fix it.
        public let message: String

        /// The key, if any, and the message.
        public var description: String {
            (key.map { "“\($0)”: \(message)" } ?? message).printable
        }

        package init(_ kind: Kind, key: String? = nil, line: Int? = nil, column: Int? = nil, _ message: String) {
            self.kind = kind
            self.key = key
            self.line = line
            self.column = column
            self.message = message
        }

        init(_ kind: Kind, _ entry: Entry, _ message: String) {
            self.init(kind, key: entry.key, line: entry.lineInMap, message)
        }

        /// Whether the problem makes the whole map unusable.
        var isFatal: Bool { [.unreadableMap, .syntax, .notAnObject].contains(kind) }
    }
}
