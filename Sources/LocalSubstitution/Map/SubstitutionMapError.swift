public import Foundation

/// An error that lists every problem with a map.
public struct SubstitutionMapError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The map's file; `nil` if the map wasn't loaded from a file.
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
            public static var unreadableMap: Kind { Kind(rawValue: "unreadableMap") }
            /// The map isn't JSON, is nested too deeply, or has a number whose exponent has more than 4 digits.
            public static var syntax: Kind { Kind(rawValue: "syntax") }
            /// The map is JSON, but not an object.
            public static var notAnObject: Kind { Kind(rawValue: "notAnObject") }
            /// Entries use files, but there's no resources folder, or its name has the wrong letter case.
            public static var noResources: Kind { Kind(rawValue: "noResources") }
            /// A key, field, header or parameter is given twice, or two keys spell the same URL or pattern differently.
            public static var duplicate: Kind { Kind(rawValue: "duplicate") }
            /// A key is neither a URL nor a match pattern.
            public static var invalidKey: Kind { Kind(rawValue: "invalidKey") }
            /// An unknown key begins with `$`.
            public static var reservedKey: Kind { Kind(rawValue: "reservedKey") }
            /// The map's `$version` is newer than the version that this library understands. No other problem is
            /// reported, since what seems wrong may be right in the newer version.
            public static var newerVersion: Kind { Kind(rawValue: "newerVersion") }
            /// A value has the wrong type.
            public static var wrongType: Kind { Kind(rawValue: "wrongType") }
            /// An entry has an unknown field.
            public static var unknownField: Kind { Kind(rawValue: "unknownField") }
            /// A field's value isn't allowed.
            public static var invalidValue: Kind { Kind(rawValue: "invalidValue") }
            /// A header has a name or value that HTTP doesn't allow, or that an entry must not set.
            public static var invalidHeader: Kind { Kind(rawValue: "invalidHeader") }
            /// Fields contradict each other, or a field isn't allowed where it's written.
            public static var conflict: Kind { Kind(rawValue: "conflict") }
            /// An alternative never matches, since an earlier one matches all its requests.
            public static var neverReached: Kind { Kind(rawValue: "neverReached") }
            /// An entry has no answer, such as a file, body, status or error.
            public static var noFile: Kind { Kind(rawValue: "noFile") }
            /// A file's name isn't allowed in a map.
            public static var invalidFileName: Kind { Kind(rawValue: "invalidFileName") }
            /// A file doesn't exist.
            public static var missingFile: Kind { Kind(rawValue: "missingFile") }
            /// A file is outside the resources folder.
            public static var outsideFolder: Kind { Kind(rawValue: "outsideFolder") }
            /// A file isn't a regular file, but a folder or a pipe, for example.
            public static var notRegularFile: Kind { Kind(rawValue: "notRegularFile") }
            /// A file exists, but can't be read.
            public static var unreadableFile: Kind { Kind(rawValue: "unreadableFile") }
        }

        /// What kind of problem it is, for use in code.
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

        package init(_ error: Complaint, in json: [UInt8]) {
            let (line, column) = error.position(in: json)
            let kind: Kind = error.kind == JSONCursor.notAnObject ? .notAnObject : .syntax
            self.init(kind, line: line, column: column, "The map \(error)")
        }

        /// Whether the problem makes the whole map unusable.
        var isFatal: Bool { [.unreadableMap, .syntax, .notAnObject].contains(kind) }
    }
}

extension [SubstitutionMap.Problem] {
    /// Sorts problems by line, after the problem with the resources folder, if any.
    func ordered(after folderProblem: SubstitutionMap.Problem?) -> [SubstitutionMap.Problem] {
        (folderProblem.map { [$0] } ?? []) + ordered { ($0.line ?? 0) < ($1.line ?? 0) }
    }
}
