public import Foundation

/// Why a recorder can't keep responses in a folder, and what to do.
public struct SubstitutionRecorderError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for programs.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the static member.
        public let rawValue: String

        /// A kind by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Another recorder, of this process or another, keeps in the folder.
        public static let inUse = Kind(rawValue: "inUse")
        /// The folder's map can't be read, or isn't a JSON object.
        public static let unreadableMap = Kind(rawValue: "unreadableMap")
        /// The folder or something in it can't be made, opened or written.
        public static let unwritable = Kind(rawValue: "unwritable")
    }

    /// The kind of problem.
    public let kind: Kind
    /// The recorder's folder.
    public let folder: URL
    /// What is wrong and what to do.
    public let message: String

    /// The folder and the message.
    public var description: String { "the recorder's folder “\(folder.path)” \(message)".printable }

    /// The same as `description`.
    public var errorDescription: String? { description }

    init(_ kind: Kind, _ folder: URL, _ message: String) {
        self.kind = kind
        self.folder = folder
        self.message = message
    }
}
