import LocalSubstitution

/// The target of a reference in an http or https document, as browsers parse it (WHATWG URL §4.4).
enum ReferenceTarget {
    /// The reference names an origin.
    ///
    /// - Parameter place: The range of its scheme and authority in the reference's bytes.
    case origin(WebOrigin, place: Range<Int>)
    /// The reference is relative to the document's base.
    case relative
    /// The reference has another scheme, a user name or password, or a host that isn't clear.
    case unknown

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

        var named = read { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        if named.first?.isLetter == true, byte() == UInt8(ascii: ":") {
            index += 1
        } else {
            named = []
            index = start
        }
        let namedScheme = String(decoding: named, as: UTF8.self).asciiLowercased
        guard ["", "http", "https"].contains(namedScheme) else {
            self = .unknown
            return
        }
        let slashes = read { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        // If the scheme isn't that of the base, slashes may be missing.
        guard slashes.count >= 2 || (!namedScheme.isEmpty && namedScheme != scheme) else {
            self = .relative
            return
        }
        let authority = read { !"/\\?#".utf8.contains($0) }
        var placeEnd = index
        while placeEnd > start, reference[placeEnd - 1].isRemovedFromURLs { placeEnd -= 1 }
        guard let host = Self.text(of: authority, charset: charset),
            let origin = WebOrigin(of: "\(namedScheme.isEmpty ? scheme : namedScheme)://\(host)/")
        else {
            self = .unknown
            return
        }
        self = .origin(origin, place: start..<placeEnd)
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
