import Foundation

/// The URL to which an entry forwards requests: the map's field `forwardTo`.
///
/// Its scheme, host and port are fixed. Its path can have wildcards anywhere. In its query, a wildcard must be a whole
/// value, as in `?q=*`.
package final class ForwardTarget: Sendable {
    /// The target for one request, with its wildcards filled.
    final class Filled: Sendable {
        let url: URL
        /// Two beginnings of URLs: ``original(of:)`` replaces `target` with `original`. For example, an entry with the
        /// key `https://h/a/*` and the target `http://t/b/*` has `http://t/b/` and `https://h/a/`. `nil` if
        /// ``original(of:)`` finds an original only for URLs with the path of ``url``.
        let prefixes: (target: String, original: String)?
        let request: NormalizedURL

        fileprivate init(_ url: URL, prefixes: (target: String, original: String)?, request: NormalizedURL) {
            (self.url, self.prefixes, self.request) = (url, prefixes, request)
        }

        /// The URL to request so that the entry forwards the request to a given URL, such as a redirect's target. In
        /// the example of ``prefixes``, `https://h/a/x` for `http://t/b/x`. `nil` if there's no such URL.
        func original(of url: URL) -> URL? {
            let text = url.absoluteString
            guard let location = try? NormalizedURL(text) else { return nil }
            let fragment = String(decoding: Array(text.utf8).drop { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            if let prefixes {
                guard location.text.hasPrefix(prefixes.target) else { return nil }
                let rest = location.text.utf8.dropFirst(prefixes.target.utf8.count)
                return URL(string: prefixes.original + String(Substring(rest)) + fragment)
            }
            guard let own = try? NormalizedURL(self.url.absoluteString), own.withoutQuery == location.withoutQuery
            else {
                return nil
            }
            return URL(string: request.withoutQuery + (location.query.map { "?" + $0 } ?? "") + fragment)
        }
    }

    /// As spelled in the map, with wildcards.
    let text: String
    /// In normal form.
    private let origin: String
    private let path: Glob
    /// `nil` if the target has no query.
    private let query: Glob?

    var wildcards: Int { path.wildcards + (query?.wildcards ?? 0) }

    /// - Throws: An error if the text isn't an `http` or `https` URL, if it has user info or a fragment, or if a
    ///   wildcard is neither in the path nor a whole value in the query.
    init(_ text: String) throws(Complaint) {
        self.text = text
        let parts = try URLParts(text)
        guard parts.scheme == "http" || parts.scheme == "https" else {
            throw Complaint("has the scheme “\(parts.scheme)”", fix: "Use http or https.")
        }
        guard !parts.hasUserInfo else {
            throw Complaint(
                "has user info before the host",
                fix: "Remove it, and set “Authorization” in “setRequestHeaders”."
            )
        }
        guard !parts.hasFragment else {
            throw Complaint("has a fragment, which is never sent", fix: "Remove # and everything after it.")
        }
        guard !(parts.host + (parts.port ?? [])).contains(UInt8(ascii: "*")) else {
            throw Complaint(
                "has a * in its host or port",
                fix: "Use * only after the host and port, as in “http://localhost:8080/*”."
            )
        }
        let host = try URLParts.normalizedHost(parts.host)
        let port = try parts.portNumber()
        let isDefault = port == URLParts.defaultPort(ofScheme: parts.scheme)
        origin = "\(parts.scheme)://\(host)" + (isDefault ? "" : ":\(port)")
        path = Glob(URLParts.normalizedPath(parts.path, keepsAsterisks: true))
        query = try parts.query.map { query throws(Complaint) in try Self.glob(ofQuery: query) }
    }

    private static func glob(ofQuery query: ArraySlice<UInt8>) throws(Complaint) -> Glob {
        let normal = URLParts.normalizedQuery(query, keepsAsterisks: true)
        for parameter in normal.split(separator: UInt8(ascii: "&")) where parameter.contains(UInt8(ascii: "*")) {
            let value = parameter.drop { $0 != UInt8(ascii: "=") }
            guard value.elementsEqual("=*".utf8), !parameter.prefix(upTo: value.startIndex).contains(UInt8(ascii: "*"))
            else {
                throw Complaint(
                    "has “\(String(decoding: parameter, as: UTF8.self))” in its query",
                    fix: "Use * only as a whole value there, as in “q=*”."
                )
            }
        }
        return Glob(normal)
    }

    /// - Parameter captures: The text that each wildcard of the key's path and query matched, as slices of the
    ///   request's path and query.
    func filled(with captures: [ArraySlice<UInt8>], for url: NormalizedURL) throws(Complaint) -> Filled {
        // A capture's indices are offsets in the URL's path and query. They tell where it begins: in the path or query.
        let pathLength = url.layout.query - url.layout.path
        let inPath = captures.prefix(path.wildcards)
        let parts = inPath.map { $0.prefix { $0 != UInt8(ascii: "?") } }
        for part in parts { try Self.check(part) }
        let filledPath = path.filled(with: parts)
        let path = String(decoding: filledPath, as: UTF8.self)
        let segments = filledPath.split(separator: UInt8(ascii: "/"))
        guard !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            throw Complaint("the target's path “\(path)” has a segment that is “.” or “..”")
        }
        let takesQuery = captures.contains { $0.endIndex > pathLength }
        let query = filledQuery(captures) ?? (takesQuery ? nil : url.query.map { Array($0.utf8) })
        let text = origin + path + (query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? "")
        guard let target = URL(string: text), let normal = try? NormalizedURL(text), normal.text.hasPrefix(origin + "/")
        else { throw Complaint("the target “\(text)” isn't a URL") }
        var prefixes: (target: String, original: String)?
        if let last = inPath.last, let part = parts.last, last.startIndex <= pathLength {
            let fixed = filledPath.dropLast(part.count + (self.path.literals.last?.count ?? 0))
            let original = url.text.utf8.prefix(url.layout.path + last.startIndex)
            prefixes = (origin + String(decoding: fixed, as: UTF8.self), String(Substring(original)))
        }
        return Filled(target, prefixes: prefixes, request: url)
    }

    /// The target's own query, followed by the queries in the captures that fill its path. `nil` if there's neither.
    private func filledQuery(_ captures: [ArraySlice<UInt8>]) -> [UInt8]? {
        // A capture is already in normal form. Only the characters that would end or change a value are encoded here.
        let values = captures.dropFirst(path.wildcards).map { capture in
            capture.reduce(into: [UInt8]()) { value, byte in
                if "&=+#?".utf8.contains(byte) {
                    PercentEncoding.append(byte, to: &value)
                } else {
                    value.append(byte)
                }
            }
        }
        return captures.prefix(path.wildcards).reduce(query?.filled(with: values)) { filled, capture in
            guard let mark = capture.firstIndex(of: UInt8(ascii: "?")) else { return filled }
            let separator = filled?.isEmpty == false ? [UInt8(ascii: "&")] : []
            return (filled ?? []) + separator + capture[(mark + 1)...]
        }
    }

    /// An encoded slash, backslash or control character is an error: a server might decode such a character before it
    /// splits the path.
    private static func check(_ part: ArraySlice<UInt8>) throws(Complaint) {
        guard try !FileName.decodedBytes(part).contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw FileName.controlCharacter(in: part)
        }
    }
}
