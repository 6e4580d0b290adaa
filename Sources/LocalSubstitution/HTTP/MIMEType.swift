/// MIME types of files: guessed from a file's extension, since a local file has no `Content-Type` to go by.
package enum MIMEType {
    /// The MIME type a file extension stands for, such as `text/html` for `html`.
    ///
    /// The types are those of [mime-db](https://github.com/jshttp/mime-db). Where several types claim an extension,
    /// IANA's comes before Apache's before the rest, except where browsers agree on another (WHATWG MIME Sniffing,
    /// RFC 9239): `text/javascript` for `js`.
    ///
    /// - Parameter ext: The extension without its dot, in upper or lower case. One leading dot is dropped.
    /// - Returns: The type without parameters, in lower case, or `nil` if the extension is unknown or empty.
    package static func guess(forExtension ext: String) -> String? {
        let name = asciiLowercased(ext)
        return typesByExtension[name.hasPrefix(".") ? String(name.dropFirst()) : name]
    }

    /// The extension of a path's last component, without its dot: `gz` for `a/b.tar.gz`.
    ///
    /// - Parameter path: A file's path or name with `/` between its components, without a query or a fragment.
    /// - Returns: The extension as written, or `nil` if the last component has none, as in `a.b/c`, `.env` and `x.`.
    package static func fileExtension(of path: some StringProtocol) -> String? {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let ext = name[dot...].dropFirst()
        return ext.isEmpty ? nil : String(ext)
    }

    /// Whether a type's files are text that is sent as UTF-8 unless its charset is given: `text/*`, JavaScript, JSON
    /// and XML, which includes SVG and XHTML.
    ///
    /// - Parameter type: A MIME type, in upper or lower case, with or without parameters.
    package static func isText(_ type: String) -> Bool {
        let type = essence(of: type)
        return type.hasPrefix("text/") || isJSON(type) || type.hasSuffix("+xml")
            || [
                "application/ecmascript", "application/javascript", "application/x-javascript", "application/xml",
            ].contains(type)
    }

    /// Whether a type is a JSON MIME type (WHATWG MIME Sniffing §4.6), except for the obsolete `text/json`.
    static func isJSON(_ type: String) -> Bool {
        let type = essence(of: type)
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// A type without its parameters, in lower case (WHATWG MIME Sniffing §4.1): `text/html` for
    /// `Text/HTML; charset=utf-8`.
    package static func essence(of type: String) -> String {
        asciiLowercased(type.prefix { $0 != ";" }.filter { !$0.isWhitespace })
    }

    static let typesByExtension: [String: String] = {
        var types: [String: String] = [:]
        // By byte, which is twice as fast as by character.
        for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            for ext in words.dropFirst() { types[ext] = words[0] }
        }
        return types
    }()

    // Not `lowercased()`: it turns some letters outside ASCII into ASCII ones, such as the Kelvin sign into k.
    package static func asciiLowercased(_ string: String) -> String {
        String(decoding: string.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
