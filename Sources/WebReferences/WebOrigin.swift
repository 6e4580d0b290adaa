import LocalSubstitution

/// A web origin: the scheme, host and port of an http or https URL (RFC 6454 §4).
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The origin as a normalized URL without its path: `https://www.example.com`, or `http://localhost:8080`. The
    /// scheme's default port is left out.
    package let description: String

    /// `nil` if the text isn't an http or https URL with a host and without user info.
    package init?(of url: String) {
        guard let url = try? NormalizedURL(url) else { return nil }
        description = url.origin
    }

    /// `http` or `https`.
    package var scheme: String { String(description.prefix { $0 != ":" }) }
}
