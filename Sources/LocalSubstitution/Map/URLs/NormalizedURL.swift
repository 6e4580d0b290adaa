import HTTPSyntax

/// An `http` or `https` URL in the form in which keys and requests are compared (RFC 3986 §6.2.2 and §6.2.3).
///
/// Scheme and host are in lowercase. The default port, dot segments and the fragment are left out. The path is never
/// empty. Percent-encoding is in uppercase, and only where it's needed. An asterisk becomes `%2A`, and an apostrophe
/// `%27`.
package final class NormalizedURL: Sendable {
    /// The normalized URL with its query parameters in their original order.
    package let text: String
    /// The normalized URL with its query parameters sorted by name, and without a `?` that nothing follows. Equal URLs have
    /// the same canonical URL.
    package let canonical: String
    let layout: Layout

    /// The scheme, the port's number, and the positions of the other parts in `text`, as offsets in UTF-8 bytes.
    struct Layout: Sendable {
        let isHTTPS: Bool
        let host: Range<Int>
        let port: Int
        let path: Int
        /// The position of the `?`; without a query, the end of the text.
        let query: Int
    }

    /// The URL without its path and query: the scheme, the host, and the port if it isn't the default.
    package var origin: String { slice(0..<layout.path) }

    /// A fragment is dropped.
    ///
    /// - Throws: An error if the text isn't an `http` or `https` URL with a host, or if it has user info.
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    package convenience init(_ text: String) throws(Complaint) {
        if let layout = Layout(ofNormal: text) {
            self.init(text: text, layout: layout)
        } else {
            try self.init(URLParts(text))
        }
    }

    /// Unlike in a request's URL, a fragment is an error.
    package convenience init(key: String) throws(Complaint) {
        if let layout = Layout(ofNormal: key) {
            self.init(text: key, layout: layout)
        } else {
            try self.init(URLParts(key: key))
        }
    }

    convenience init(_ parts: URLParts) throws(Complaint) {
        guard parts.scheme == "http" || parts.scheme == "https" else {
            throw Complaint(
                "has the scheme “\(parts.scheme)”, which is never substituted",
                fix: "Use http or https.",
                in: parts.scheme
            )
        }
        guard !parts.hasUserInfo else { throw Complaint("has user info before the host", fix: "Remove it.") }
        let host = try URLParts.normalizedHost(parts.host)
        let port = try parts.portNumber()

        var text = "\(parts.scheme)://\(host)"
        let hostStart = parts.scheme.utf8.count + 3
        let hostEnd = text.utf8.count
        if port != URLParts.defaultPort(ofScheme: parts.scheme) { text += ":\(port)" }
        let pathStart = text.utf8.count
        text += String(decoding: URLParts.normalizedPath(parts.path, keepsAsterisks: false), as: UTF8.self)
        let queryStart = text.utf8.count
        if let query = parts.query {
            text += "?" + String(decoding: URLParts.normalizedQuery(query, keepsAsterisks: false), as: UTF8.self)
        }
        self.init(
            text: text,
            layout: Layout(
                isHTTPS: parts.scheme == "https",
                host: hostStart..<hostEnd,
                port: port,
                path: pathStart,
                query: queryStart
            )
        )
    }

    private init(text: String, layout: Layout) {
        self.text = text
        self.layout = layout
        let query = text.utf8.dropFirst(layout.query + 1)
        if query.contains(UInt8(ascii: "&")) {
            canonical = "\(Substring(text.utf8.prefix(layout.query + 1)))\(Query(String(Substring(query))).sorted.text)"
        } else if query.isEmpty, layout.query < text.utf8.count {
            canonical = String(text.dropLast())
        } else {
            canonical = text
        }
    }

    package var scheme: String { layout.isHTTPS ? "https" : "http" }
    package var host: String { slice(layout.host) }
    /// The scheme's default if the URL has none.
    package var port: Int { layout.port }
    package var hasDefaultPort: Bool { layout.port == URLParts.defaultPort(ofScheme: scheme) }
    package var path: String { slice(layout.path..<layout.query) }
    /// Without its `?`.
    package var query: String? { layout.query < text.utf8.count ? slice(layout.query + 1..<text.utf8.count) : nil }

    package var withoutQuery: String { slice(0..<layout.query) }

    /// `parameters` is how many parameters aren't ignored.
    func canonical(ignoring rule: Query.Ignored) -> (text: String, parameters: Int) {
        guard let query, let left = Query(query).removing(rule) else { return (withoutQuery, 0) }
        return (withoutQuery + "?" + left.sorted.text, left.count)
    }

    private func slice(_ range: Range<Int>) -> String {
        String(Substring(text.utf8.dropFirst(range.lowerBound).prefix(range.count)))
    }
}

extension NormalizedURL.Layout {
    /// Creates the layout of a URL that's already in normal form, in one pass and without an allocation. Returns `nil`
    /// for any other URL, and if one pass isn't enough to decide, such as for a URL with percent-encoding.
    ///
    /// This runs for each request whose response isn't in memory. It succeeds for nearly every URL that apps request.
    init?(ofNormal text: String) {
        guard let layout = text.utf8.withContiguousStorageIfAvailable({ Self.scan($0) }) ?? nil else { return nil }
        self = layout
    }

    private static func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Self? {
        // As locals, the tables stay in registers in the loops.
        let (hostBytes, pathBytes, queryBytes) = (hostBytes, URLParts.Encoding.path, URLParts.Encoding.query)
        let isHTTPS = bytes.starts(with: https)
        guard isHTTPS || bytes.starts(with: http) else { return nil }
        let hostStart = isHTTPS ? 8 : 7
        var index = hostStart
        while index < bytes.count, hostBytes.contains(bytes[index]) { index += 1 }
        let hostEnd = index
        guard hostEnd > hostStart, index < bytes.count else { return nil }

        var port = isHTTPS ? 443 : 80
        if bytes[index] == UInt8(ascii: ":") {
            guard let pathStart = bytes[index...].firstIndex(of: UInt8(ascii: "/")),
                let number = explicitPort(bytes[(index + 1)..<pathStart]), number != port
            else { return nil }
            port = number
            index = pathStart
        }
        guard bytes[index] == UInt8(ascii: "/") else { return nil }

        let pathStart = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "?") {
            let byte = bytes[index]
            guard pathBytes.contains(byte) else { return nil }
            // "/." may begin a dot segment. `URLParts` decides.
            if byte == UInt8(ascii: "."), bytes[index - 1] == UInt8(ascii: "/") { return nil }
            index += 1
        }
        let queryStart = index
        while index < bytes.count {
            guard queryBytes.contains(bytes[index]) else { return nil }
            index += 1
        }
        return Self(isHTTPS: isHTTPS, host: hostStart..<hostEnd, port: port, path: pathStart, query: queryStart)
    }

    private static func explicitPort(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
        var number = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number <= 65_535 ? number : nil
    }

    private static let http = Array("http://".utf8)
    private static let https = Array("https://".utf8)

    /// The bytes of a host in normal form. ``URLParts`` reads a host with other bytes, such as an IP literal.
    private static let hostBytes = PercentEncoding.AllowedBytes("abcdefghijklmnopqrstuvwxyz0123456789.-")
}
