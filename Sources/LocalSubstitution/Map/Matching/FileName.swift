/// The name of an entry's file: a relative path in the resources folder, with `/` between its segments. It may have wildcards,
/// which are filled with what those of the key's path took.
///
/// It is looked at byte by byte: as a `Character`, a `/` or `*` before a combining mark would be none.
struct FileName: Sendable {
    let text: String

    var wildcards: Int { text.utf8.count { $0 == UInt8(ascii: "*") } }

    /// The folder before the first wildcard: the one that must exist when the map is loaded. Empty for the resources folder.
    var fixedFolder: String {
        let fixed = text.utf8.prefix { $0 != UInt8(ascii: "*") }
        return fixed.lastIndex(of: UInt8(ascii: "/")).map { String(text[..<$0]) } ?? ""
    }

    /// What is wrong with the name itself, before any file is looked at.
    var problem: String? {
        if text.isEmpty { return "is empty: name a file in the resources folder" }
        if text.utf8.contains(0) { return "has a NUL byte" }
        if text.utf8.first == UInt8(ascii: "/") {
            return "is an absolute path: name it relative to the resources folder"
        }
        if text.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }) {
            return "leads out of its folder with “..”: name a file inside the resources folder"
        }
        return nil
    }

    /// The name with its wildcards filled, in order; `nil` if the entry does not apply.
    ///
    /// Each part is cut at its first `?` and percent-decoded once. A name that ends in `/` gets `index.html`. The entry does not
    /// apply if a part has an encoded slash or backslash, a control character or invalid UTF-8, or if the name has an empty
    /// segment or one that begins with a full stop.
    func filled(with captures: [ArraySlice<UInt8>]) -> String? {
        var pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }[...]
        var name = pieces.popFirst() ?? ""
        for (piece, capture) in zip(pieces, captures) {
            guard let part = Self.decoded(capture.prefix { $0 != UInt8(ascii: "?") }) else { return nil }
            name += part + piece
        }
        if name.isEmpty || name.utf8.last == UInt8(ascii: "/") { name += "index.html" }
        let segments = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isHiddenOrEmpty = segments.contains { $0.isEmpty || $0.first == UInt8(ascii: ".") }
        return isHiddenOrEmpty ? nil : name
    }

    private static func decoded(_ part: ArraySlice<UInt8>) -> String? {
        let bytes = PercentEncoding.decode(part)
        let slashes = part.count { $0 == UInt8(ascii: "/") }
        guard bytes.count(where: { $0 == UInt8(ascii: "/") }) == slashes, !bytes.contains(UInt8(ascii: "\\")),
            let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return text
    }
}
