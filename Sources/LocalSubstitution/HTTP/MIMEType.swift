package import Foundation
import HTTPSyntax

/// MIME types of files, guessed from the file extension, since a local file has no `Content-Type`. Also the charsets of text.
/// ``Substitution`` decides which type and charset an entry's response has.
package enum MIMEType {
    package static let eventStream = "text/event-stream"

    /// Returns the MIME type for a file extension, such as `text/html` for `html`.
    ///
    /// The types are those of [mime-db](https://github.com/jshttp/mime-db). If an extension has several types, the type
    /// on which browsers agree wins (WHATWG MIME Sniffing, RFC 9239), such as `text/javascript` for `js`. Without such
    /// a type, IANA's wins, then Apache's, then any other.
    ///
    /// - Parameter ext: The extension without its dot, in uppercase or lowercase. A leading dot is ignored.
    /// - Returns: The type in lowercase, without parameters; `nil` if the extension is unknown or empty.
    package static func guess(forExtension ext: String) -> String? {
        let lowered = ext.asciiLowercased
        return types[lowered.hasPrefix(".") ? String(lowered.dropFirst()) : lowered]
    }

    /// The types by extension.
    package static let types: [String: String] = table.withUTF8Buffer { table in
        var types: [String: String] = [:]
        var kind = ""
        for word in table.split(whereSeparator: isWhiteSpace) {
            let texts = word.split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") }
                .map { String(decoding: $0, as: UTF8.self) }
            if texts.count == 1 { kind = texts[0] }
            for ext in texts.dropFirst() { types[ext] = kind + texts[0] }
        }
        return types
    }

    /// The extension of the path's last component, without its dot: `gz` for `a/b.tar.gz`.
    ///
    /// - Parameter path: A file's path or name with `/` between its components, without a query or a fragment.
    /// - Returns: The extension, in the path's own letter case; `nil` if the last component has none, as in `a.b/c`,
    ///   `.env` and `x.`.
    package static func fileExtension(of path: String) -> String? {
        let path = path.utf8
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
        let ext = name[dot...].dropFirst()
        return ext.isEmpty ? nil : String(Substring(ext))
    }

    /// Text is `text/*`, JavaScript, JSON or XML, including SVG and XHTML. Text without a given charset is sent as
    /// UTF-8.
    ///
    /// - Parameter type: A MIME type, in uppercase or lowercase, with or without parameters.
    package static func isText(_ type: String) -> Bool {
        let type = essence(of: type)
        return switch type {
        case "application/ecmascript", "application/javascript", "application/x-javascript", "application/xml": true
        default: type.hasPrefix("text/") || type.hasSuffix("+xml") || isJSON(type)
        }
    }

    /// A JSON MIME type as in WHATWG MIME Sniffing §4.6, except for the obsolete `text/json`.
    package static func isJSON(_ type: String) -> Bool {
        let type = essence(of: type)
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// The type in lowercase, without parameters: `text/html` for `Text/HTML; charset=utf-8` (WHATWG MIME Sniffing
    /// §4.1).
    package static func essence(of type: String) -> String {
        let essence = type.utf8.prefix { $0 != UInt8(ascii: ";") }
        // Works on bytes: characters take twenty times as long, and each first lookup of a URL comes here.
        guard essence.contains(where: isWhiteSpace) else { return String(Substring(essence)).asciiLowercased }
        return String(decoding: essence.filter { !isWhiteSpace($0) }, as: UTF8.self).asciiLowercased
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    // MARK: Charsets

    /// The charset of text without a byte order mark.
    package static let standardCharset = "utf-8"

    /// The IANA name of the charset whose byte order mark begins the bytes (Unicode §23.8).
    package static func charset(ofMark bytes: Data) -> String? {
        let marks: [([UInt8], String)] = [
            ([0xEF, 0xBB, 0xBF], "utf-8"),
            // UTF-32 comes before UTF-16, whose mark is the first half of UTF-32's.
            ([0xFF, 0xFE, 0, 0], "utf-32le"),
            ([0, 0, 0xFE, 0xFF], "utf-32be"),
            ([0xFF, 0xFE], "utf-16le"),
            ([0xFE, 0xFF], "utf-16be"),
        ]
        return marks.first { bytes.starts(with: $0.0) }?.1
    }
}
