import Foundation

/// The headers of a response that are kept with its body: an allow-list.
///
/// On it is what belongs to the document itself. What belongs to one transfer (`Content-Encoding`, `Date`), to one user
/// (`Set-Cookie`), to a cache's bookkeeping (`Cache-Control`, `ETag`) or makes the loader refuse the response (`Vary`) never is.
enum RecordedHeaders {
    static let names = [
        "Content-Disposition", "Content-Language", "Content-Security-Policy", "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Link", "Permissions-Policy", "Referrer-Policy",
        "Service-Worker-Allowed", "SourceMap", "X-Content-Type-Options", "X-Frame-Options", "X-Robots-Tag",
    ]

    /// What an archive's responses keep besides: who may read them (the Fetch standard's CORS protocol). A recorder does not,
    /// since they may be for one page alone.
    static let ofArchives =
        names + [
            "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
            "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
        ]

    /// Those of a response's headers that are kept, in the spelling of the list.
    ///
    /// A value is left out that HTTP does not allow, or that has something like a credential in it.
    ///
    /// - Parameter value: Gives a response's header by its name, in any case.
    static func kept(_ names: [String] = names, _ value: (String) -> String?) -> [String: String] {
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
