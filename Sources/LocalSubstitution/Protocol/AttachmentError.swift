public import Foundation

/// Why a cache can't be attached to a configuration or installed, and what to do.
public struct AttachmentError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for programs.
    public struct Kind: Sendable, Hashable {
        let name: String

        /// A background configuration has no custom protocols, and the attachment needs one.
        public static let backgroundConfiguration = Kind(name: "backgroundConfiguration")
        /// The platform has no custom protocols, and the attachment needs one.
        public static let unsupportedPlatform = Kind(name: "unsupportedPlatform")
        /// An exception of `unmatched` is neither a URL nor a match pattern.
        public static let invalidException = Kind(name: "invalidException")
        /// A session was used before the cache was installed.
        public static let sessionInUse = Kind(name: "sessionInUse")
    }

    /// The kind of problem.
    public let kind: Kind
    /// What is wrong and what to do.
    public let description: String

    /// The same as `description`.
    public var errorDescription: String? { description }

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description.printable
    }
}
