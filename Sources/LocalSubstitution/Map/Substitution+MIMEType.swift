import Foundation

/// What decides an answer's MIME type and charset.
extension Substitution {
    /// Where a MIME type comes from.
    enum MIMETypeSource: Sendable, Equatable, CustomStringConvertible {
        case entry, header
        /// The field with the body: `json`, `text` or `stream`.
        case inline
        case fileExtension(String)
        case urlExtension(String)
        case none

        var description: String {
            switch self {
            case .entry: "set by the entry"
            case .header: "set by the entry's header Content-Type"
            case .fileExtension(let name): "from the file's extension “\(name)”"
            case .urlExtension(let name): "from the URL's extension “\(name)”"
            case .inline: "from the entry's field “json”, “text” or “stream”"
            case .none: "because neither the file nor the URL has a known extension"
            }
        }
    }

    /// Returns the MIME type of an answer, and where it comes from.
    ///
    /// - Parameter path: The path of the request's URL.
    static func mimeType(
        _ options: Entry.Options,
        _ answer: Entry.Answer,
        _ fileName: String?,
        path: String
    ) -> (String, MIMETypeSource) {
        if let header = options.fields.headers[header: "Content-Type"] {
            return (MIMEType.essence(of: header), .header)
        }
        if let type = options.fields.mimeType { return (type, .entry) }
        if case .stream = answer { return (MIMEType.eventStream, .inline) }
        if case .inline(let body) = answer, body.kind == .json { return ("application/json", .inline) }
        if let fileName, let (type, own) = guess(fileName) { return (type, .fileExtension(own)) }
        if let (type, own) = guess(path) { return (type, .urlExtension(own)) }
        if case .inline(let body) = answer, body.kind == .text { return ("text/plain", .inline) }
        return ("application/octet-stream", .none)
    }

    private static func guess(_ path: String) -> (type: String, fileExtension: String)? {
        guard let own = MIMEType.fileExtension(of: path) else { return nil }
        return MIMEType.guess(forExtension: own).map { ($0, own) }
    }

    /// The charset that the entry sets. By default, `utf-8` for text and streams, and `nil` for other types. When a
    /// response is built, a byte order mark in the file overrides the default.
    var charset: String? {
        let isText = if case .stream = answer { true } else { MIMEType.isText(mimeType) }
        return options.fields.charset ?? (isText ? Charset.standard : nil)
    }
}
