import LocalSubstitution

/// File extensions for MIME types.
extension MIMEType {
    /// Returns the usual extension for files of a type, such as `html` for `text/html`. For an unknown type, returns
    /// `json`, `xml` or `txt` if the type's name shows that it's JSON, XML or text, and otherwise `bin`.
    ///
    /// - Parameter type: A MIME type, in uppercase or lowercase, with or without parameters.
    package static func preferredExtension(for type: String) -> String {
        let type = essence(of: type)
        if let known = preferredExtensions[type] ?? extensionsByType[Substring(type)] { return known }
        if isJSON(type) { return "json" }
        if type.hasSuffix("+xml") { return "xml" }
        return type.hasPrefix("text/") ? "txt" : "bin"
    }

    /// The usual extensions of types that the table lists with another extension first, and of
    /// nonstandard types that some servers send.
    private static let preferredExtensions = [
        "application/javascript": "js", "application/octet-stream": "bin", "application/pdf": "pdf",
        "application/x-javascript": "js", "application/xml": "xml", "application/zip": "zip", "audio/mp4": "m4a",
        "audio/mpeg": "mp3", "audio/ogg": "ogg", "font/otf": "otf", "font/ttf": "ttf", "image/jpeg": "jpg",
        "image/svg+xml": "svg", "image/tiff": "tiff", "image/x-icon": "ico", "text/html": "html",
        "text/javascript": "js", "text/markdown": "md", "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4",
        "video/mpeg": "mpeg", "video/quicktime": "mov", "application/x-font-woff": "woff",
        "application/font-woff": "woff",
        "application/font-woff2": "woff2",
    ]

    /// The alphabetically first extension of each type in the table.
    private static let extensionsByType = table.description.split { $0.isWhitespace }
        .reduce(into: [Substring: String]()) { extensions, pair in
            let parts = pair.split(separator: ":")
            if parts.count == 2, extensions[parts[1]] == nil { extensions[parts[1]] = String(parts[0]) }
        }
}
