public import Foundation

/// An error that says why a cache can't be attached to a configuration or installed, and how to fix it.
public struct AttachmentError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for code that handles the error.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the static member.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The configuration is for background sessions. They use no custom URL protocols, and the attachment needs one.
        public static var backgroundConfiguration: Kind { Kind(rawValue: "backgroundConfiguration") }
        /// The platform, such as watchOS, has no custom URL protocols, and the attachment needs one.
        public static var unsupportedPlatform: Kind { Kind(rawValue: "unsupportedPlatform") }
        /// An allowed URL of `unmatched` is neither a URL nor a match pattern.
        public static var invalidAllowedURL: Kind { Kind(rawValue: "invalidAllowedURL") }
        /// `LOCAL_SUBSTITUTION_UNMATCHED` is neither `fail` nor `load`.
        public static var invalidUnmatched: Kind { Kind(rawValue: "invalidUnmatched") }
        /// `unmatched` was passed to a server with a test's cache, although the test decides it.
        package static var decidedByTest: Kind { Kind(rawValue: "decidedByTest") }
        /// A session was used before the cache was installed (Linux), or the protocol couldn't be registered (Apple
        /// platforms).
        public static var sessionInUse: Kind { Kind(rawValue: "sessionInUse") }
    }

    /// The kind of problem.
    public let kind: Kind
    /// What's wrong, and how to fix it.
    public let description: String

    /// The same as `description`.
    public var errorDescription: String? { description }

    /// For an installation; an attachment's error gives other advice.
    static let withoutProtocols = AttachmentError(
        .unsupportedPlatform,
        "watchOS has no custom URL protocols. Install without a recorder, and with unmatched: .load."
    )

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description.printable
    }
}
