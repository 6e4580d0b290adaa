import Foundation

extension ArchivedEntry {
    /// The type of the body that is written: that of the response for bytes, and with the charset UTF-8 for text, whatever it was
    /// sent in.
    func typeOfBody(at url: NormalizedURL) -> ContentType? {
        guard !isBase64 else { return contentType }
        let byName = MIMEType.fileExtension(of: url.path).flatMap { MIMEType.guess(forExtension: $0) }
        let parts = (contentType?.text ?? byName ?? "text/plain").split(separator: ";")
        let kept = parts.enumerated().filter { number, part in
            number == 0 || !MIMEType.essence(of: String(part)).hasPrefix("charset=")
        }
        return ContentType((kept.map { String($0.element) } + [" charset=\(Charset.standard)"]).joined(separator: ";"))
    }

    /// Whether text can't be what the server sent, since the type is none of text, and what was no text in it was replaced.
    func hasLostBytes(_ body: Data) -> Bool {
        guard !isBase64, let type = contentType?.essence, !MIMEType.isText(type) else { return false }
        return ["image/", "audio/", "video/", "font/"].contains { type.hasPrefix($0) }
            && body.range(of: Data("\u{FFFD}".utf8)) != nil
    }
}
