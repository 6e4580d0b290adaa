import LocalSubstitution

/// The target of a reference in an http or https document, as browsers parse it (WHATWG URL §4.4).
struct ReferenceTarget {
    enum Kind {
        case origin(WebOrigin)
        /// The reference is relative to the document's base, even if it begins with the base's scheme.
        case relative
        /// The reference has another scheme, a user name or password, or a host that isn't clear.
        case unknown
    }

    let kind: Kind
    /// The scheme that the reference names, in lowercase; empty if there's none.
    let scheme: String
    /// The range of the scheme and authority in the reference's bytes; of a relative reference, only that of the scheme.
    let place: Range<Int>
    /// Where the reference names a host without two slashes, which it may if its scheme isn't the base's; `nil` otherwise.
    let missingSlashes: Int?

    /// - Parameters:
    ///   - reference: The URL, with escapes and character references decoded.
    ///   - scheme: The scheme of the document's base.
    ///   - charset: The document's charset.
    init(_ reference: [UInt8], scheme: String, charset: String?) {
        // Control characters and spaces around the URL don't count, and neither do tabs and line ends in it.
        let start = reference.firstIndex { $0 > 0x20 } ?? reference.count
        let end = (reference.lastIndex { $0 > 0x20 } ?? start - 1) + 1
        var index = start
        func byte() -> UInt8? {
            while index < end, reference[index].isRemovedFromURLs { index += 1 }
            return index < end ? reference[index] : nil
        }
        func read(while isPart: (UInt8) -> Bool) -> [UInt8] {
            var read: [UInt8] = []
            while let byte = byte(), isPart(byte) {
                read.append(byte)
                index += 1
            }
            return read
        }

        func placeToHere() -> Range<Int> {
            var placeEnd = index
            while placeEnd > start, reference[placeEnd - 1].isRemovedFromURLs { placeEnd -= 1 }
            return start..<placeEnd
        }

        var named = read { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        let schemePlace: Range<Int>
        if named.first?.isLetter == true, byte() == UInt8(ascii: ":") {
            schemePlace = placeToHere()
            index += 1
        } else {
            named = []
            index = start
            schemePlace = start..<start
        }
        self.scheme = String(decoding: named, as: UTF8.self).asciiLowercased
        let slashesPlace = index
        guard ["", "http", "https"].contains(self.scheme) else {
            (kind, place, missingSlashes) = (.unknown, schemePlace, nil)
            return
        }
        let slashes = read { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        // If the scheme isn't that of the base, slashes may be missing.
        guard slashes.count >= 2 || (!self.scheme.isEmpty && self.scheme != scheme) else {
            (kind, place, missingSlashes) = (.relative, schemePlace, nil)
            return
        }
        let authority = read { !"/\\?#".utf8.contains($0) }
        place = placeToHere()
        missingSlashes = slashes.count < 2 ? slashesPlace : nil
        let host = Self.text(of: authority, charset: charset)
        let origin = host.flatMap { [named = self.scheme] in WebOrigin(of: "\(named.isEmpty ? scheme : named)://\($0)/")
        }
        kind = origin.map { .origin($0) } ?? .unknown
    }

    /// Returns host and port with their percent-encoding decoded; `nil` if a decoded byte isn't allowed in a host.
    private static func text(of authority: [UInt8], charset: String?) -> String? {
        var decoded: [UInt8] = []
        var index = 0
        while index < authority.count {
            if let byte = PercentEncoding.byte(encodedAt: index, of: authority) {
                guard byte >= 0x80 || byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte) else { return nil }
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(authority[index])
                index += 1
            }
        }
        return DocumentCharset.text(decoded, charset)
    }
}
