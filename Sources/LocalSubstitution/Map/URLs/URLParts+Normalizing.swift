import Foundation

/// The normal form of a URL's host, path and query (RFC 3986 §6.2.2). Keys and requests are compared in this
/// form; see ``NormalizedURL``.
extension URLParts {
    /// Returns a host in normal form: in lowercase, with normalized percent-encoding, and in ASCII. For a host that
    /// isn't ASCII, `URL` makes the ASCII form (IDNA).
    package static func normalizedHost(_ host: ArraySlice<UInt8>) throws(URLParts.SyntaxError) -> String {
        let text = String(decoding: host, as: UTF8.self)
        if host.first == UInt8(ascii: "[") {
            let literal = host.dropFirst().dropLast()
            guard !literal.isEmpty,
                literal.allSatisfy({ $0.hexDigitValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { throw URLParts.SyntaxError("has the host “\(text)”, which isn't an IPv6 address", "Correct it.") }
            return text.lowercased()
        }
        var host = host
        if host.contains(where: { $0 >= 0x80 }) {
            // Not `host(percentEncoded:)`, which would undo the IDNA form, or decode “ä%2F.de” to a host with a slash.
            let ascii = URL(string: "https://\(text)/").map { $0.absoluteString.utf8.dropFirst(8).dropLast() }
            guard let ascii, !ascii.isEmpty, ascii.allSatisfy({ $0 < 0x80 }) else {
                throw URLParts.SyntaxError("has the host “\(text)”, which has no ASCII form (IDNA)", "Correct it.")
            }
            host = Array(ascii)[...]
        }
        let allowed = URLParts.Encoding.host
        guard host.allSatisfy({ allowed.contains($0) || $0 == UInt8(ascii: "%") }) else {
            throw URLParts.SyntaxError(
                "has the host “\(text)”, which contains an invalid character",
                "Use letters, digits, hyphens and periods."
            )
        }
        let normalized = URLParts.Encoding.normalize(host, allowed: allowed, keepsAsterisks: false)
        return String(decoding: normalized, as: UTF8.self).lowercased()
    }

    /// Returns a path in normal form. Normalizes percent-encoding, then removes dot segments (RFC 3986 §5.2.4). An
    /// empty path becomes `/`.
    ///
    /// - Parameter keepsAsterisks: Whether asterisks are wildcards, which stay unencoded. If `false`, they're encoded.
    static func normalizedPath(_ path: ArraySlice<UInt8>, keepsAsterisks: Bool) -> [UInt8] {
        let encoded = URLParts.Encoding.normalize(
            path,
            allowed: URLParts.Encoding.path,
            keepsAsterisks: keepsAsterisks
        )
        guard !encoded.isEmpty else { return [UInt8(ascii: "/")] }
        let segments = encoded.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.contains(where: isDotSegment) else { return encoded }
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            if !isDotSegment(segment) {
                kept.append(segment)
                continue
            }
            if segment.count == 2 { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        return kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// Returns a query in normal form, without its `?`.
    static func normalizedQuery(_ query: some Sequence<UInt8>, keepsAsterisks: Bool) -> [UInt8] {
        Encoding.normalize(query, allowed: Encoding.query, keepsAsterisks: keepsAsterisks)
    }

    private static func isDotSegment(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count <= 2 && !segment.isEmpty && segment.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}

extension URLParts {
    /// The percent-encoding of a URL in normal form: the bytes that stay unencoded in its host, path and query.
    enum Encoding {
        /// The unreserved characters (RFC 3986 §2.3). They mean the same encoded or not, so they're always decoded.
        static let unreserved = PercentEncoding.AllowedBytes(letters + "-._~")
        /// `pchar` and `/` (RFC 3986 §3.3), except `*`, which is the wildcard, and `'`.
        ///
        /// Browsers encode `'` in a query (WHATWG URL, special-query percent-encode set), but not in a path. Here, it's
        /// encoded in both, since a pattern's `*` can match a path and a query.
        static let path = PercentEncoding.AllowedBytes(letters + "-._~!$&()+,;=:@/")
        /// `pchar`, `/` and `?` (RFC 3986 §3.4), except `*` and `'`.
        static let query = PercentEncoding.AllowedBytes(letters + "-._~!$&()+,;=:@/?")
        /// `unreserved` and `sub-delims` (RFC 3986 §3.2.2), except `*`.
        static let host = PercentEncoding.AllowedBytes(letters + "-._~!$&'()+,;=")

        private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

        /// Returns bytes in normal form (RFC 3986 §6.2.2). Unreserved characters are decoded. Bytes that aren't allowed
        /// are encoded, with uppercase digits. A `%` that doesn't begin a valid encoding is encoded, too.
        ///
        /// - Parameter keepsAsterisks: Whether asterisks are wildcards, which stay unencoded. If `false`, they're
        ///   encoded.
        static func normalize(
            _ bytes: some Sequence<UInt8>,
            allowed: PercentEncoding.AllowedBytes,
            keepsAsterisks: Bool
        ) -> [UInt8] {
            normalize(Array(bytes), allowed, keepsAsterisks)
        }

        private static func normalize(_ bytes: [UInt8], _ allowed: PercentEncoding.AllowedBytes, _ keepsAsterisks: Bool)
            -> [UInt8]
        {
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if let decoded = PercentEncoding.byte(encodedAt: index, of: bytes) {
                    if unreserved.contains(decoded) {
                        result.append(decoded)
                    } else {
                        PercentEncoding.append(decoded, to: &result)
                    }
                    index += 3
                    continue
                }
                if allowed.contains(byte) || (keepsAsterisks && byte == UInt8(ascii: "*")) {
                    result.append(byte)
                } else {
                    PercentEncoding.append(byte, to: &result)
                }
                index += 1
            }
            return result
        }
    }
}
