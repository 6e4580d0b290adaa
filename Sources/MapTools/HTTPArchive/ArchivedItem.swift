import Foundation
import LocalSubstitution

/// What happened to one response in an archive.
package struct ArchivedItem: Sendable {
    /// The URL without anything that may be a credential.
    package let url: String
    package let outcome: Result<KeptFile, NotImported>

    init(_ url: String?, _ outcome: Result<KeptFile, NotImported>) {
        self.url = Self.shown(url ?? "")
        self.outcome = outcome
    }

    /// Returns a URL as a report can show it: without credentials, and shortened, since a `data:` URL may contain a picture.
    private static func shown(_ url: String) -> String {
        var url = url
        if let parts = try? NormalizedURL(url), let parameter = SecretName.first(in: parts) {
            url = parameter.name == nil ? "\(parts.origin)/…" : parts.withoutQuery.prefix { $0 != ";" } + "…"
        } else if let parts = try? URLParts(url), parts.hasUserInfo {
            url = "\(parts.scheme)://…@" + String(decoding: parts.host, as: UTF8.self) + "…"
        }
        return url.utf8.count > longest ? String(decoding: url.utf8.prefix(longest), as: UTF8.self) + "…" : url
    }

    private static let longest = 300
}
