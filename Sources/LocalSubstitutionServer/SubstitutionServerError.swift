public import Foundation
import Loopback
import WebReferences

#if !os(watchOS)
/// The error that a server throws if it can't start or can't serve a URL. Its description says what to do.
public struct SubstitutionServerError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The kind of problem, for programs.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the static member.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The URL isn't an http or https URL with a host.
        public static let invalidURL = Kind(rawValue: "invalidURL")
        /// A key of `ports` isn't an origin, or two origins have the same port.
        public static let invalidPorts = Kind(rawValue: "invalidPorts")
        /// An exception of `unmatched` is neither a URL nor a match pattern.
        public static let invalidException = Kind(rawValue: "invalidException")
        /// The system doesn't let the server listen on a port, for example because another process uses it.
        public static let portUnavailable = Kind(rawValue: "portUnavailable")
        /// The server already has 256 origins, which is the maximum.
        public static let tooManyOrigins = Kind(rawValue: "tooManyOrigins")
        /// The server was stopped.
        public static let stopped = Kind(rawValue: "stopped")
    }

    /// The kind of problem.
    public let kind: Kind
    /// What is wrong and what to do.
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
        Self(.invalidURL, "“\(url)” can't be served: use an http or https URL with a host and without user info")
    }

    static func invalidOrigin(_ text: String) -> Self {
        Self(
            .invalidPorts,
            "“\(text)” isn't an origin: use only scheme, host and port, such as https://www.example.com"
        )
    }

    static func portUsedTwice(_ port: UInt16) -> Self {
        Self(.invalidPorts, "two origins have the port \(port): use a different port for each")
    }

    static func namedTwice(_ origin: WebOrigin) -> Self {
        Self(.invalidPorts, "\(origin) is named twice: name each origin once")
    }

    static func tooManyOrigins(_ origin: WebOrigin, most: Int) -> Self {
        Self(.tooManyOrigins, "\(origin) has no port: a server has at most \(most) origins")
    }

    static func portUnavailable(_ origin: WebOrigin, _ port: UInt16, _ error: StartError) -> Self {
        let name = port == 0 ? "no port of 127.0.0.1" : "not on port \(port) of 127.0.0.1"
        let fix = port == 0 ? "" : ": use another port, or none for a free one"
        return Self(.portUnavailable, "can't listen for \(origin), \(name) (\(error))\(fix)")
    }

    static let stopped = Self(.stopped, "the server was stopped: make another one")
}
#endif
