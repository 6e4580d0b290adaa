/// Something about a map that is no error, but probably not what was meant.
public struct MapWarning: Sendable, Hashable, CustomStringConvertible {
    /// What sort of thing it is, for programs.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No entry names a file of the resources folder.
        case unusedFile
        /// A pattern never applies, or others that match the same come first.
        case neverWins
        /// The loader would not take the entry's response from a cache.
        case refusedByLoader
        /// The entry's file waits for the network to fail, which only the protocol sees.
        case needsProtocol
        /// A file's first bytes are not what its MIME type says.
        case contradictedType
        /// A file's name differs from the disk's in capital and small letters.
        case letterCase
        /// A pattern ends in an extension, and so does not match a URL with a query.
        case missesQuery
        /// A pattern serves every file of the resources folder.
        case catchAll
    }

    /// What sort of thing it is.
    public let kind: Kind
    /// The entry's key; `nil` where no entry is meant.
    public let key: String?
    /// The line in the map, from 1; `nil` for a map made in code, and where no entry is meant.
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
        line = entry.flatMap { $0.line > 0 ? Int($0.line) : nil }
        self.message = message
    }
}
