#if canImport(Testing)
import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// Decodes the body as JSON.
    ///
    /// - Throws: A `DecodingError` if there's no body, or if it isn't JSON for this type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body ?? Data())
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
            words.append(ShownBody(body).text.map { "--data-raw \(Self.quoted($0))" } ?? "--data-binary @body")
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
#endif
