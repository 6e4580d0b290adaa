import Foundation
import HTTPSyntax
import LocalSubstitution

/// The valid type of a `Content-Type` header (RFC 9110 §8.3.1).
package struct ContentType {
    /// The type with its parameters, as the server sent it.
    package private(set) var text: String
    /// The type without parameters, in lowercase, such as `text/html`.
    package let essence: String
    /// The first valid charset, in lowercase; `nil` if the header has none.
    package private(set) var charset: String?
    /// Whether the header has parameters other than `charset`.
    package private(set) var hasOtherParameters = false

    /// Parses a header's value. If it lists several types, the last valid one is used (Fetch, “extract a MIME type”).
    /// Returns `nil` if there's none.
    package init?(_ header: String) {
        var last: ContentType?
        for text in HTTPSyntax.elements(of: header, quotes: true) {
            guard var type = ContentType(one: String(text)) else { continue }
            // A repeated type keeps the charset that it had before.
            if type.charset == nil, type.essence == last?.essence, let charset = last?.charset {
                type.charset = charset
                type.text += "; charset=\(charset)"
            }
            last = type
        }
        guard let last else { return nil }
        self = last
    }

    /// Returns `nil` if the type is invalid, or if it has characters that an entry's header can't have.
    private init?(one text: String) {
        (self.text, essence) = (text, MIMEType.essence(of: text))
        guard HTTPSyntax.isMIMEType(essence), essence != "*/*",
            HTTPSyntax.problem(ofHeader: "Content-Type", value: text) == nil
        else { return nil }
        for (name, value) in HTTPSyntax.parameters(of: text) {
            if name.asciiLowercased != "charset" {
                hasOtherParameters = true
            } else if charset == nil, let value {
                let value = value.trimmingCharacters(in: ["\""]).asciiLowercased
                if HTTPSyntax.isToken(value) { charset = value }
            }
        }
    }
}

extension EntryFields {
    /// Sets as few fields as possible so that the entry's response has the type and charset that the server sent.
    mutating func set(_ type: ContentType, ofBody body: Data, at url: NormalizedURL, defaults: EntryFields) {
        // If a parameter seems to contain a credential, only the type and the charset are recorded.
        let isSecret = SecretName.isIn(type.text)
        if type.hasOtherParameters, !isSecret {
            headers["Content-Type"] = type.text
            return
        }
        let charset = Optional(type.charset)
        let choices: [(String?, String??)] = [
            (nil, nil), (type.essence, nil), (nil, charset), (type.essence, charset),
        ]
        // Without a file, an entry can have neither field, so a type that isn't the default becomes a header.
        for choice in file == nil ? [(nil, nil)] : choices {
            (mimeType, self.charset) = choice
            if serves(type, ofBody: body, at: url, defaults: defaults) { return }
        }
        if isSecret { return }
        (mimeType, self.charset) = (nil, nil)
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
        // A charset that the server didn't send would override the one that a document names itself, and the one that
        // its scripts, style sheets and forms take over. But JSON is UTF-8 anyway (RFC 8259 §8.1).
        let isCharsetRight =
            served?.charset == type.charset
            || type.charset == nil && served?.charset == "utf-8" && MIMEType.isJSON(type.essence)
                && body.withUnsafeBytes { String(utf8: $0) != nil }
        return served?.essence == type.essence && isCharsetRight
    }
}
