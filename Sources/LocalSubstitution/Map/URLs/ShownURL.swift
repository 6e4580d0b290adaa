package import Foundation

/// A URL for messages, with “redacted” in place of each part that may be a credential.
package struct ShownURL: Sendable {
    package private(set) var text = ""
    /// The replaced values, as spelled in the URL and in normal form, since an explanation may quote either.
    private var credentials: [String] = []

    package init(_ url: URL?) {
        self.init(key: url?.absoluteString ?? "")
        if url == nil { text = "a request without a URL" }
    }

    /// - Parameter whole: A URL, or a key of a map.
    package init(key whole: String) {
        var rest = Array(whole.utf8)[...]
        if let scheme = whole.range(of: "://") {
            text = String(whole[..<scheme.upperBound])
            rest = rest.dropFirst(text.utf8.count)
            let authority = rest.prefix { !"/?#".utf8.contains($0) }
            rest = rest[authority.endIndex...]
            let shown = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...] }
            text += (shown == nil ? "" : Self.replacement) + String(decoding: shown ?? authority, as: UTF8.self)
        }
        var path = rest.prefix { !"?#".utf8.contains($0) }
        rest = rest[path.endIndex...]
        while let token = Self.token(in: path) {
            add(path[..<token.lowerBound], separators: "/;", ofParameters: ";")
            text += Self.replacement
            credentials.append(String(decoding: path[token], as: UTF8.self))
            path = path[token.upperBound...]
        }
        // In a path, a parameter begins after a semicolon, and ends at the next separator.
        add(path, separators: "/;", ofParameters: ";")
        add(rest, separators: "?#&;", ofParameters: "?#&;")
    }

    /// The first segment that's a token because of the segments before it.
    private static func token(in path: ArraySlice<UInt8>) -> Range<Int>? {
        var start = path.startIndex
        // The starts of the last segments. A token depends on at most three before it, so that a long path takes linear time.
        var window: [Int] = []
        while start < path.endIndex {
            let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
            if start < end {
                window = window.suffix(7) + [start]
                if SecretName.hasPathToken(PercentEncoding.decode(path[window[0]..<end])) { return start..<end }
            }
            start = end + 1
        }
        return nil
    }

    static func parameter(_ text: String) -> String {
        ShownURL(URL(string: "https://h/?\(text)")).text.replacingOccurrences(of: "https://h/?", with: "")
    }

    private static let replacement = "redacted"

    /// “redacted” replaces each credential of the URL that the text quotes.
    func withoutCredentials(_ text: String) -> String {
        credentials.reduce(text) { text, value in
            text.replacingOccurrences(of: "“\(value)”", with: "“\(Self.replacement)”")
        }
    }

    /// - Parameters:
    ///   - separators: The characters at which the part is split into pieces.
    ///   - parameters: Those separators after which a piece is a parameter.
    private mutating func add(_ part: ArraySlice<UInt8>, separators: String, ofParameters parameters: String) {
        var rest = part
        var separator: UInt8?
        while !rest.isEmpty || separator != nil {
            let piece = rest.prefix { !separators.utf8.contains($0) }
            rest = rest[piece.endIndex...]
            add(piece, isParameter: separator.map(parameters.utf8.contains) ?? false)
            separator = rest.popFirst()
            if let separator { text.unicodeScalars.append(Unicode.Scalar(separator)) }
        }
    }

    private mutating func add(_ piece: ArraySlice<UInt8>, isParameter: Bool) {
        let whole = String(decoding: piece, as: UTF8.self)
        let sign = piece.firstIndex(of: UInt8(ascii: "="))
        if sign == nil, SecretName.isIn(whole) {
            text += Self.replacement
            credentials.append(whole)
            return
        }
        // The `*` of a key hides nothing.
        guard isParameter, let sign, !piece[(sign + 1)...].elementsEqual("*".utf8),
            let url = try? NormalizedURL("https://h/?\(whole)"),
            SecretName.first(in: url) != nil
        else {
            text += whole
            return
        }
        text += String(decoding: piece[...sign], as: UTF8.self) + Self.replacement
        let value = String(decoding: piece[(sign + 1)...], as: UTF8.self)
        let values = [value, url.query?.drop { $0 != "=" }.dropFirst().description]
        credentials += values.compactMap { $0?.clipped }
    }
}
