import Foundation

/// The response headers that are kept with a body: an allow-list.
///
/// The list has headers that belong to the document itself. It leaves out those that belong to one transfer (`Content-Encoding`,
/// `Date`), to one user (`Set-Cookie`) or to a cache (`Cache-Control`, `ETag`), and those that make the loader refuse the response
/// (`Vary`).
package enum RecordedHeaders {
    package static let names = [
        "Content-Disposition", "Content-Language", "Content-Security-Policy", "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Link", "Permissions-Policy", "Referrer-Policy",
        "Service-Worker-Allowed", "SourceMap", "X-Content-Type-Options", "X-Frame-Options", "X-Robots-Tag",
    ]

    /// Returns the headers of a response that are kept, spelled as in the list.
    ///
    /// Leaves out a value that HTTP doesn't allow, or that seems to contain a credential.
    ///
    /// - Parameter value: Returns the value of a header by its name, in any letter case.
    package static func kept(_ names: [String] = names, _ value: (String) -> String?) -> [String: String] {
        var kept: [String: String] = [:]
        for name in names {
            guard let value = value(name), HTTPSyntax.problem(ofHeader: name, value: value) == nil,
                !SecretName.isIn(value)
            else { continue }
            kept[name] = value
        }
        return kept
    }
}
