public import Foundation
import LocalSubstitution

/// An error that says why a recorder can't use a folder, and how to fix it.
public struct SubstitutionRecorderError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for code that handles the error.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The kind's name, such as `inUse`.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Another recorder uses the folder, in this process or another.
        public static let inUse = Kind(rawValue: "inUse")
        /// The folder's map can't be read, or isn't a JSON object.
        public static let unreadableMap = Kind(rawValue: "unreadableMap")
        /// The folder or something in it can't be created, opened or written.
        public static let unwritable = Kind(rawValue: "unwritable")
    }

    /// The kind of problem.
    public let kind: Kind
    /// The recorder's folder.
    public let folder: URL
    /// What's wrong with the folder, and how to fix it. Continues a sentence that begins with the folder.
    public let message: String

    /// The message as a sentence that begins with the folder.
    public var description: String { "The recorder's folder “\(folder.path)” \(message)".printable }

    /// The error's `description`.
    public var errorDescription: String? { description }

    init(_ kind: Kind, _ folder: URL, _ message: String) {
        self.kind = kind
        self.folder = folder
        self.message = message
    }
}
