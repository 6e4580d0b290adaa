#if !os(watchOS)
public import Foundation

/// The error that a server throws if it can't start or can't serve a URL. Its description says how to fix it.
public struct SubstitutionServerError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for code that handles the error.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the static member, such as `invalidURL`.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The URL isn't http or https, has no host, or has user info.
        public static let invalidURL = Kind(rawValue: "invalidURL")
        /// A key of `ports` isn't an origin, or two keys name the same origin or have the same port.
        public static let invalidPorts = Kind(rawValue: "invalidPorts")
        /// An allowed URL of `unmatched` is neither a URL nor a match pattern.
        public static let invalidAllowedURL = Kind(rawValue: "invalidAllowedURL")
        /// `unmatched` was given, but the cache belongs to a test, which decides what happens to unmatched requests.
        public static let decidedByTest = Kind(rawValue: "decidedByTest")
        /// The server can't listen on a port, for example because another process uses it.
        public static let portUnavailable = Kind(rawValue: "portUnavailable")
        /// The server already has the largest number of origins: 256, or fewer if the process can open only a few
        /// files.
        public static let tooManyOrigins = Kind(rawValue: "tooManyOrigins")
        /// The server was stopped.
        public static let stopped = Kind(rawValue: "stopped")
    }

    /// The kind of problem.
    public let kind: Kind
    /// What's wrong, and how to fix it.
    public let description: String

    /// The same as `description`.
    public var errorDescription: String? { description }

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
#endif
