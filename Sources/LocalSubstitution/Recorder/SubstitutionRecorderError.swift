public import Foundation

/// Why a recorder can't keep responses in a folder, and what to do.
public struct SubstitutionRecorderError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// What sort of thing it is, for programs.
    public enum Kind: String, Sendable, Hashable {
        /// Another recorder, of this process or another, keeps in the folder.
        case inUse
        /// The folder's map can't be read or is no JSON object.
        case unreadableMap
        /// The folder or something in it can't be made, opened or written.
        case unwritable
    }

    /// What sort of thing it is.
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
