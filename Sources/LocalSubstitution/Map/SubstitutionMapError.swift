public import Foundation

/// Everything that is wrong with a map: every problem, not only the first.
public struct SubstitutionMapError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The map's file; `nil` for a map made in code.
    public let file: URL?
    /// In the order of their lines. Never empty.
    public let problems: [Problem]

    /// All problems, each on a line of its own, ready to print: file, line and column, key, what is wrong and what to do.
    public var description: String {
        let name = file?.lastPathComponent ?? "map"
        return problems.map { problem in
            let place = [problem.line, problem.column].compactMap { $0.map(String.init) }
            return ([name] + place).joined(separator: ":") + ": error: \(problem)"
        }.joined(separator: "\n")
    }

    /// The same as `description`.
    public var errorDescription: String? { description }

    /// One thing that is wrong with a map.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// What sort of thing it is, for programs.
        public enum Kind: String, Sendable, Hashable {
            /// The map's file is missing or can't be read.
            case unreadableMap
            /// The map is no JSON.
            case syntax
            /// The map is JSON, but no object.
            case notAnObject
            /// There is no resources folder.
            case noResources
            /// A key, a field or a header is given twice, or two keys are the same URL.
            case duplicate
            /// A key is no URL and no match pattern.
            case invalidKey
            /// A key begins with `$`, but is none that is known.
            case reservedKey
            /// A value is of another type than it must be.
            case wrongType
            /// An entry has a field that is not known.
            case unknownField
            /// A field's value is not one that it may have.
            case invalidValue
            /// A header's name or value is not one that HTTP allows, or one that an entry must not set.
            case invalidHeader
            /// An entry has neither a file nor a status.
            case noFile
            /// A file's name is none that may stand in a map.
            case invalidFileName
            /// A file does not exist.
            case missingFile
            /// A file is outside the resources folder.
            case outsideFolder
            /// A file is a folder, a pipe or the like.
            case notRegularFile
            /// A file is there, but can't be read.
            case unreadableFile
        }

        /// What sort of thing it is.
        public let kind: Kind
        /// The entry's key; `nil` where the map as a whole is meant.
        public let key: String?
        /// The line in the map, from 1; `nil` for a map made in code.
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

        /// Whether not even a part of the map can be used.
        var isFatal: Bool { [.unreadableMap, .syntax, .notAnObject].contains(kind) }
    }
}
