#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// Decodes the body as JSON.
    ///
    /// - Throws: A `DecodingError` if there's no body, or if it isn't JSON for this type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard let body else { throw DecodingError.withoutBody }
        return try JSONDecoder().decode(type, from: body)
    }

    /// The body as text; `nil` if there's no body, or if it isn't UTF-8.
    public var text: String? { body.flatMap { String(data: $0, encoding: .utf8) } }

    /// The request as a command line for `curl`, to compare with a snapshot.
    ///
    /// Headers are sorted by name, and arguments are quoted for a shell. In the URL, in headers, and in a body that is
    /// JSON or a form, `redacted` replaces values that may be credentials. Any other text body is replaced as a whole
    /// if it contains a credential or a credential's name. For a body that isn't text, the command reads a file named
    /// `body`.
    public var curl: String {
        let url = ShownURL(request.url).text
        var words = ["curl \(Self.quoted(url))"]
        // Otherwise, curl takes these for lists and ranges of URLs.
        if url.contains(where: "[]{}".contains) { words.append("--globoff") }
        switch (request.httpMethod ?? "GET", body) {
        case ("GET", nil): break
        case ("HEAD", nil): words.append("--head")
        case (let method, _): words.append("--request \(Self.quoted(method))")
        }
        let headers = (request.allHTTPHeaderFields ?? [:]).map {
            (name: $0.key, value: Self.shown($0.value, of: $0.key))
        }
        for (name, value) in headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
            // curl would leave out a header that ends with its colon.
            words.append("--header \(Self.quoted(value.isEmpty ? "\(name);" : "\(name): \(value)"))")
        }
        if let body {
            words.append(ShownBody.text(of: body).map { "--data-raw \(Self.quoted($0))" } ?? "--data-binary @body")
        }
        return words.joined(separator: " \\\n  ")
    }

    private static func shown(_ value: String, of header: String) -> String {
        let isSecret =
            HTTPSyntax.credentialHeaders.contains(where: header.isSameHeader) || SecretName.isSecret(header)
            || SecretName.isIn(value)
        return isSecret ? "redacted" : value
    }

    /// Returns an argument, quoted for a shell if necessary (POSIX.1, “Single-Quotes”).
    private static func quoted(_ argument: String) -> String {
        let isPlain = !argument.isEmpty && argument.utf8.allSatisfy { $0.isLetter || $0.isDigit }
        return isPlain ? argument : "'\(argument.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}

/// A request's body as text, with “redacted” in place of what may be a credential.
private enum ShownBody {
    private static let replacement = "redacted"

    /// Returns the text; `nil` if the body isn't text.
    static func text(of body: Data) -> String? {
        guard let whole = String(data: body, encoding: .utf8), !whole.utf8.contains(0) else { return nil }
        if (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil {
            return json(Array(body)) ?? replacement
        }
        return isForm(whole) ? form(whole) : isSecret(whole) ? replacement : whole
    }

    // MARK: JSON

    /// Returns the JSON text with its credentials replaced; `nil` if it's nested too deep.
    private static func json(_ body: [UInt8]) -> String? {
        let secrets = body.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes)
            return try? Self.secrets(&cursor)
        }
        guard let secrets else { return nil }
        var (text, end) = ([UInt8](), 0)
        for range in secrets.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.lowerBound >= end {
            text += body[end..<range.lowerBound] + Array("\"\(replacement)\"".utf8)
            end = range.upperBound
        }
        return String(decoding: text + body[end...], as: UTF8.self)
    }

    /// Reads a value. Returns the byte ranges of the credentials in it.
    private static func secrets(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> [Range<Int>] {
        let start = cursor.offset
        var found: [Range<Int>] = []
        switch cursor.next {
        case .object:
            // `{ "id": "password", "value": … }`, as in lists of form fields.
            var (values, isNamedSecret): ([Range<Int>], Bool) = ([], false)
            try cursor.object { cursor, key, _ throws(JSONCursor.SyntaxError) in
                let start = cursor.offset
                var copy = cursor
                let name = SecretMember.nameKeys.contains(key.lowercased()) ? try copy.text() : nil
                if let name, SecretMember.isSecret(name: name) { isNamedSecret = true }
                let inside = try secrets(&cursor)
                let range = start..<cursor.offset
                found += SecretMember.isSecret(name: key) ? [range] : inside
                if SecretMember.valueKeys.contains(key.lowercased()) { values.append(range) }
            }
            if isNamedSecret {
                found.removeAll { secret in values.contains { $0.overlaps(secret) } }
                found += values
            }
        case .array:
            try cursor.array { cursor throws(JSONCursor.SyntaxError) in found += try secrets(&cursor) }
        case .string:
            guard let text = try cursor.text(), !SecretMember.isSecret(value: text) else {
                return [start..<cursor.offset]
            }
        default:
            try cursor.skip()
        }
        return found
    }

    // MARK: Other text

    private static func isForm(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && text.split(separator: "&").allSatisfy { $0.contains("=") }
    }

    private static func form(_ text: String) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { field in
            guard SecretMember.isSecret(field: field), let sign = field.firstIndex(of: "=") else {
                return String(field)
            }
            return field[...sign] + replacement
        }.joined(separator: "&")
    }

    /// Returns whether text that is neither JSON nor a form looks like a credential, or contains the name of one.
    private static func isSecret(_ text: String) -> Bool {
        SecretMember.isSecret(value: text)
            || text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }
                .contains { SecretMember.isSecret(name: String($0)) }
    }
}
#endif
