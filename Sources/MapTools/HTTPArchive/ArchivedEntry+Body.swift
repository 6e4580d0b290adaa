import Foundation
import LocalSubstitution

extension ArchivedEntry {
    /// Returns the type of the body as it's written. Bytes have the response's type. Text is written as UTF-8, whatever its charset
    /// was, and its type says so.
    func typeOfBody(at url: NormalizedURL) -> ContentType? {
        guard !isBase64 else { return contentType }
        let type = typeOfText(at: url)
        var parts = type.split(separator: ";").enumerated().filter { number, part in
            number == 0 || !MIMEType.essence(of: String(part)).hasPrefix("charset=")
        }.map { String($0.element) }
        if MIMEType.isText(type) { parts.append(" charset=\(Charset.standard)") }
        return ContentType(parts.joined(separator: ";"))
    }

    /// Returns whether recorded text differs from what the server sent: its type isn't text, and invalid bytes in it were replaced.
    func hasLostBytes(_ body: Data, at url: NormalizedURL) -> Bool {
        !isBase64 && !MIMEType.isText(typeOfText(at: url)) && body.range(of: Data("\u{FFFD}".utf8)) != nil
    }

    /// Returns the recorded type, or else the type for the URL's extension, or `text/plain`.
    private func typeOfText(at url: NormalizedURL) -> String {
        let byName = MIMEType.fileExtension(of: url.path).flatMap { MIMEType.guess(forExtension: $0) }
        return contentType?.text ?? byName ?? "text/plain"
    }
}
