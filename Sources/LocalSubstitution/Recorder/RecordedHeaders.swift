import Foundation

/// The headers of a response that are kept with its body: an allow-list.
///
/// On it is what belongs to the document itself. What belongs to one transfer (`Content-Encoding`, `Date`), to one user
/// (`Set-Cookie`), to a cache's bookkeeping (`Cache-Control`, `ETag`) or makes the loader refuse the response (`Vary`) never is.
package enum RecordedHeaders {
    package static let names = [
        "Content-Disposition", "Content-Language", "Content-Security-Policy", "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Link", "Permissions-Policy", "Referrer-Policy",
        "Service-Worker-Allowed", "SourceMap", "X-Content-Type-Options", "X-Frame-Options", "X-Robots-Tag",
    ]

    /// Those of a response's headers that are kept, in the spelling of the list.
    ///
    /// A value is left out that HTTP does not allow, or that has something like a credential in it.
    ///
    /// - Parameter value: Gives a response's header by its name, in any case.
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
