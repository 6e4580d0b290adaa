import Foundation
import LocalSubstitution

/// A parsed `Content-Type` header with a valid type (RFC 9110 §8.3.1).
package struct ContentType {
    /// The header's whole value, as the server sent it.
    package let text: String
    /// The type without parameters, in lowercase, such as `text/html`.
    package let essence: String
    /// The first valid charset, in lowercase; `nil` if the header has none.
    package private(set) var charset: String?
    /// Whether the header has parameters other than `charset`.
    package private(set) var hasOtherParameters = false

    /// Parses a header's value. Returns `nil` if the type is invalid, or if the value has characters that an entry's
    /// header can't have.
    package init?(_ text: String) {
        (self.text, essence) = (text, MIMEType.essence(of: text))
        guard HTTPSyntax.isMIMEType(essence), HTTPSyntax.problem(ofHeader: "Content-Type", value: text) == nil else {
            return nil
        }
        for parameter in text.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = pair.first, !name.isEmpty else { continue }
            if name.asciiLowercased != "charset" {
                hasOtherParameters = true
            } else if charset == nil, pair.count == 2 {
                let value = pair[1].trimmingCharacters(in: ["\""]).asciiLowercased
                if HTTPSyntax.isToken(value) { charset = value }
            }
        }
    }
}
