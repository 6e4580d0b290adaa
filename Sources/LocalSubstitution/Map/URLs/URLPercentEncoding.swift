/// The percent-encoding of a URL in normal form: which bytes are encoded in its host, path and query.
enum URLPercentEncoding {
    /// The unreserved characters (RFC 3986 §2.3). They mean the same encoded or not, so they're always decoded.
    static let unreserved = AllowedBytes(letters + "-._~")
    /// `pchar` and `/` (RFC 3986 §3.3), except `*`, which is the wildcard, and `'`.
    ///
    /// Browsers encode `'` in a query (WHATWG URL, special-query percent-encode set), but not in a path. Here it has one form
    /// in both, since the text after a pattern's `*` can be in either.
    static let path = AllowedBytes(letters + "-._~!$&()+,;=:@/")
    /// `pchar`, `/` and `?` (RFC 3986 §3.4), with the same exceptions.
    static let query = AllowedBytes(letters + "-._~!$&()+,;=:@/?")
    /// `unreserved` and `sub-delims` (RFC 3986 §3.2.2), except `*`.
    static let host = AllowedBytes(letters + "-._~!$&'()+,;=")

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// Returns the normal form (RFC 3986 §6.2.2): uppercase hexadecimal digits, unreserved characters decoded, and every byte
    /// encoded that isn't allowed, including a `%` that doesn't begin a valid encoding.
    ///
    /// - Parameter keepsAsterisks: Whether asterisks are wildcards, and so stay as they are. Otherwise, they're encoded.
    static func normalize(
        _ bytes: some Sequence<UInt8>,
        allowed: AllowedBytes,
        keepsAsterisks: Bool
    ) -> [UInt8] {
        let bytes = Array(bytes)
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
