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

extension EntryFields {
    /// Sets as few fields as possible so that the entry serves the type and charset that the server sent.
    mutating func set(_ type: ContentType, ofBody body: Data, at url: NormalizedURL, defaults: EntryFields) {
        // If a parameter seems to contain a credential, only the type and the charset are kept.
        let isSecret = SecretName.isIn(type.text)
        if type.hasOtherParameters, !isSecret {
            headers["Content-Type"] = type.text
            return
        }
        let choices = [(nil, nil), (type.essence, nil), (nil, type.charset), (type.essence, type.charset)]
        // Without a file, an entry can have neither field, so a type that isn't the default becomes a header.
        for choice in file == nil ? [(nil, nil)] : choices {
            (mimeType, charset) = choice
            if serves(type, ofBody: body, at: url, defaults: defaults) { return }
        }
        if isSecret { return }
        (mimeType, charset) = (nil, nil)
        headers["Content-Type"] = type.text
    }

    private func serves(
        _ type: ContentType,
        ofBody body: Data,
        at url: NormalizedURL,
        defaults: EntryFields
    ) -> Bool {
        let entry = Entry(url.canonical, self, defaults: defaults)
        let substitution = Substitution(entry, fileName: file, folder: nil, url: url)
        let served = ContentType(substitution.contentType(ofBody: body))
        // Without a charset, an entry may serve text as UTF-8. That's right only if the body is UTF-8, or begins
        // with a byte order mark.
        let isCharsetRight =
            type.charset == nil
            ? served?.charset == nil || Charset.byteOrderMark(of: body) != nil
                || body.withUnsafeBytes { String(utf8: $0) != nil }
            : served?.charset == type.charset
        return served?.essence == type.essence && isCharsetRight
    }
}
