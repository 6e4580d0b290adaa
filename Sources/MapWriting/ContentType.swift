import Foundation
import LocalSubstitution

/// A valid `Content-Type` header (RFC 9110 §8.3.1).
package struct ContentType {
    package let text: String
    package let essence: String
    /// The charset, in lowercase.
    package let charset: String?
    package let hasOtherParameters: Bool

    /// Parses a header; `nil` if it has no valid type, or if an entry couldn't set it.
    package init?(_ text: String) {
        let essence = MIMEType.essence(of: text)
        guard HTTPSyntax.isMIMEType(essence), HTTPSyntax.problem(ofHeader: "Content-Type", value: text) == nil else {
            return nil
        }
        var charset: String?
        var hasOthers = false
        for parameter in text.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = pair.first, !name.isEmpty else { continue }
            if name.asciiLowercased != "charset" {
                hasOthers = true
            } else if charset == nil, pair.count == 2 {
                let value = pair[1].trimmingCharacters(in: ["\""]).asciiLowercased
                if HTTPSyntax.isToken(value) { charset = value }
            }
        }
        self.text = text
        self.essence = essence
        self.charset = charset
        hasOtherParameters = hasOthers
    }
}
