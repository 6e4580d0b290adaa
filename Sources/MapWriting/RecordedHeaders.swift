import Foundation
import LocalSubstitution

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

    /// Returns the names of a response's headers that ``kept(_:_:)`` leaves out because they seem to contain a credential. Of
    /// `Content-Type`, only its other parameters are left out.
    package static func withheld(_ names: [String] = names, _ value: (String) -> String?) -> [String] {
        (names + ["Content-Type"]).filter { value($0).map { SecretName.isIn($0) } == true }
    }

    /// Returns what to say about headers that were left out, without a period; `nil` if there are none.
    package static func note(onWithheld names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let list = names.map { "“\($0)”" }.joined(separator: " and ")
        return names.count == 1
            ? "without the header \(list), which may contain a credential"
            : "without the headers \(list), which may contain credentials"
    }
}
