import Foundation

/// A `Content-Type` header that is one (RFC 9110 §8.3.1).
package struct ContentType {
    package let text: String
    package let essence: String
    /// In lowercase.
    package let charset: String?
    let hasOtherParameters: Bool

    /// `nil` where the type is none, or the header could not be set by an entry.
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
