/// The name of an entry's file: a relative path in the resources folder, with `/` between its segments. For each
/// request, the name's wildcards are filled with the text that the wildcards of the key's path and query matched.
///
/// The name is read byte by byte, since a `/` or `*` and a combining mark after it form one `Character`.
package struct FileName: Sendable {
    package let text: String
    package let hasWildcards: Bool

    package init(text: String) {
        self.text = text
        hasWildcards = text.utf8.contains(UInt8(ascii: "*"))
    }

    package var wildcards: Int { text.count(of: UInt8(ascii: "*")) }

    /// The folder before the first wildcard; empty for the resources folder. If this folder doesn't exist when the
    /// map's files are checked, the map has a problem.
    package var fixedFolder: String {
        ResourcesFolder.split(String(decoding: Glob(text).literals[0], as: UTF8.self)).folder
    }

    /// What's wrong with the name, and the fix, in sentences that follow the name in a message; `nil` if the name is
    /// valid. Doesn't check that the file exists.
    package var problem: String? {
        if text.isEmpty { return "has no name. Name a file in the resources folder." }
        if text.utf8.contains(0) { return "has a NUL byte in its name. Remove the byte." }
        if text.utf8.first == UInt8(ascii: "/") {
            return "is an absolute path. Make it relative to the resources folder."
        }
        if Array(text.utf8).split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }) {
            return "contains “..”, which could leave the resources folder. Write a path without “..”."
        }
        return nil
    }

    /// Why a request's URL can't fill a wildcard of a file name or target.
    ///
    /// - Parameter part: The text that the wildcard matched.
    static func controlCharacter(in part: ArraySlice<UInt8>) -> Complaint {
        Complaint("“\(String(decoding: part, as: UTF8.self))” in the URL has a control character")
    }

    /// Each capture is cut off at its first `?` and percent-decoded once. If the filled name is empty or ends in `/`,
    /// `index.html` is added.
    ///
    /// - Throws: What's wrong with the filled name, such as an empty folder name or a hidden file.
    package func filled(with captures: [ArraySlice<UInt8>]) throws(Complaint) -> String {
        let glob = Glob(text)
        var values: [[UInt8]] = []
        for capture in captures.prefix(glob.wildcards) {
            values.append(try Self.decoded(capture.prefix { $0 != UInt8(ascii: "?") }))
        }
        var bytes = glob.filled(with: values)
        if bytes.isEmpty || bytes.last == UInt8(ascii: "/") { bytes += Array("index.html".utf8) }
        let name = String(decoding: bytes, as: UTF8.self)
        for segment in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let first = segment.first else {
                throw Complaint("the file name “\(name)” has an empty folder name")
            }
            guard first != UInt8(ascii: ".") else {
                throw Complaint(
                    "the file name “\(name)” has a segment that begins with a period, and hidden files are never served"
                )
            }
        }
        return name
    }

    private static func decoded(_ part: ArraySlice<UInt8>) throws(Complaint) -> [UInt8] {
        let bytes = try decodedBytes(part)
        guard let text = String(utf8: bytes) else {
            throw Complaint("“\(String(decoding: part, as: UTF8.self))” in the URL isn't UTF-8 when decoded")
        }
        for scalar in text.unicodeScalars where scalar.properties.generalCategory == .control {
            throw Self.controlCharacter(in: part)
        }
        return bytes
    }

    /// An encoded slash or backslash is an error, since the decoded character would begin another segment.
    static func decodedBytes(_ part: ArraySlice<UInt8>) throws(Complaint) -> [UInt8] {
        let bytes = PercentEncoding.decode(part)
        let slashes = part.count { $0 == UInt8(ascii: "/") }
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes, !bytes.contains(UInt8(ascii: "\\")) else {
            let part = String(decoding: part, as: UTF8.self)
            throw Complaint(
                "“\(part)” in the URL has an encoded slash or backslash, which could lead to another folder"
            )
        }
        return bytes
    }
}
