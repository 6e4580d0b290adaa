public import Foundation
import Loopback
import WebReferences

#if !os(watchOS)
/// The error that a server throws if it can't start or can't serve a URL. Its description says how to fix it.
public struct SubstitutionServerError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for code that handles the error.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the static member.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The URL isn't an http or https URL with a host and without user info.
        public static let invalidURL = Kind(rawValue: "invalidURL")
        /// A key of `ports` isn't an origin, or two keys name the same origin or have the same port.
        public static let invalidPorts = Kind(rawValue: "invalidPorts")
        /// An exception of `unmatched` is neither a URL nor a match pattern.
        public static let invalidException = Kind(rawValue: "invalidException")
        /// The system doesn't let the server listen on a port, for example because another process uses it.
        public static let portUnavailable = Kind(rawValue: "portUnavailable")
        /// The server already has as many origins as it can: at most 256, and fewer if the process may open only a few files.
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

extension SubstitutionServerError {
    static func invalidURL(_ url: String) -> Self {
        Self(.invalidURL, "“\(url)” can't be served. Use an http or https URL with a host and no user info.")
    }

    static func invalidOrigin(_ text: String) -> Self {
        Self(
            .invalidPorts,
            "“\(text)” isn't an origin. Use only scheme, host and port, such as “https://www.example.com”."
        )
    }

    static func portUsedTwice(_ port: UInt16) -> Self {
        Self(.invalidPorts, "Two origins have the port \(port). Use a different port for each.")
    }

    static func namedTwice(_ origin: WebOrigin) -> Self {
        Self(.invalidPorts, "“\(origin)” is named twice. Name each origin once.")
    }

    static func tooManyOrigins(_ origin: WebOrigin, most: Int) -> Self {
        Self(
            .tooManyOrigins,
            "“\(origin)” can't be served, because a server has at most \(most) origins. Make another server for it."
        )
    }

    static func portUnavailable(_ origin: WebOrigin, _ port: UInt16, _ error: StartError) -> Self {
        let place = port == 0 ? "any port" : "port \(port)"
        let fix = port == 0 ? "" : " Use another port, or none for a free one."
        return Self(.portUnavailable, "“\(origin)” can't be served on \(place) of 127.0.0.1 (\(error)).\(fix)")
    }

    static let stopped = Self(.stopped, "The server was stopped. Make another one.")
}
#endif
