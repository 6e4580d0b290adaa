/// The name of an entry's file: a relative path in the resources folder, with `/` between its segments. It may have
/// wildcards. Each is filled with the text that a wildcard of the key's path matched.
///
/// It's read byte by byte, since a `/` or `*` and a combining mark after it form one `Character`.
package struct FileName: Sendable {
    package let text: String

    package init(text: String) { self.text = text }

    package var wildcards: Int { text.utf8.count { $0 == UInt8(ascii: "*") } }

    /// The folder before the first wildcard, which must exist when the map is loaded. Empty for the resources folder.
    package var fixedFolder: String {
        ResourcesFolder.split(String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "*") }))).folder
    }

    /// What's wrong with the name, whether or not the file exists; `nil` if nothing is. The text follows the name in a
    /// message, and ends with a period.
    package var problem: String? {
        if text.isEmpty { return "is empty. Name a file in the resources folder." }
        if text.utf8.contains(0) { return "has a NUL byte. Remove it." }
        if text.utf8.first == UInt8(ascii: "/") {
            return "is an absolute path. Make it relative to the resources folder."
        }
        if text.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }) {
            return "leaves its folder with “..”. Name a file inside the resources folder."
        }
        return nil
    }

    /// Why a URL can't be made into a file name or target. The entry then doesn't apply.
    package enum Obstacle: Error, Equatable, Sendable {
        /// `name` is the file name that was made from the URL.
        case emptySegment(name: String)
        case hiddenSegment(name: String)
        /// `part` is the text that a wildcard matched.
        case encodedSlash(part: String)
        case controlCharacter(part: String)
        case invalidUTF8(part: String)
        /// `path` is the path that was made for the target.
        case dotSegment(path: String)
        case notURL(text: String)

        /// The obstacle as a sentence without its period.
        var message: String {
            switch self {
            case .emptySegment(let name): "the file name “\(name)” has an empty folder name"
            case .hiddenSegment(let name):
                "the file name “\(name)” has a segment that begins with a period, and hidden files are never served"
            case .encodedSlash(let part):
                "“\(part)” in the URL has an encoded slash or backslash, which could lead to another folder"
            case .controlCharacter(let part): "“\(part)” in the URL has a control character"
            case .invalidUTF8(let part): "“\(part)” in the URL isn't UTF-8 when decoded"
            case .dotSegment(let path): "the target's path “\(path)” has a segment that is “.” or “..”"
            case .notURL(let text): "the target “\(text)” isn't a URL"
            }
        }
    }

    /// Returns the name with its wildcards filled, in order.
    ///
    /// Each capture is cut off at its first `?` and percent-decoded once. If the name is empty or ends in `/`,
    /// `index.html` is added.
    package func filled(with captures: [ArraySlice<UInt8>]) throws(Obstacle) -> String {
        var pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }[...]
        var name = pieces.popFirst() ?? ""
        for (piece, capture) in zip(pieces, captures) {
            name += try Self.decoded(capture.prefix { $0 != UInt8(ascii: "?") }) + piece
        }
        if name.isEmpty || name.utf8.last == UInt8(ascii: "/") { name += "index.html" }
        let segments = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for segment in segments {
            guard let first = segment.first else { throw .emptySegment(name: name) }
            guard first != UInt8(ascii: ".") else { throw .hiddenSegment(name: name) }
        }
        return name
    }

    private static func decoded(_ part: ArraySlice<UInt8>) throws(Obstacle) -> String {
        var written: String { String(decoding: part, as: UTF8.self) }
        guard let text = String(utf8: try decodedBytes(part)) else { throw .invalidUTF8(part: written) }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .controlCharacter(part: written)
        }
        return text
    }

    /// Decodes a part of a URL. An encoded slash or backslash is an obstacle, since it would begin another segment.
    static func decodedBytes(_ part: ArraySlice<UInt8>) throws(Obstacle) -> [UInt8] {
        let bytes = PercentEncoding.decode(part)
        let slashes = part.count { $0 == UInt8(ascii: "/") }
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes, !bytes.contains(UInt8(ascii: "\\")) else {
            throw .encodedSlash(part: String(decoding: part, as: UTF8.self))
        }
        return bytes
    }
}
