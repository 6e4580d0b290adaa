#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// Decodes the request's body as JSON.
    ///
    /// - Throws: A `DecodingError` if the request's ``body`` is `nil`, or if it can't be decoded as this type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        guard let body else { throw DecodingError.withoutBody }
        return try JSONDecoder().decode(type, from: body)
    }

    /// The request's body as text; `nil` if ``body`` is `nil`, or isn't UTF-8.
    public var text: String? { body.flatMap { String(data: $0, encoding: .utf8) } }

    /// The request as a command line for `curl`, to compare with a snapshot.
    ///
    /// Headers are sorted by name, and arguments are quoted for a shell. In the URL, in headers, and in a body that is
    /// JSON or a form, the word `redacted` replaces each value that may be a credential. If a body of any other text
    /// contains a credential or a credential's name, `redacted` replaces the whole body. For a body that isn't text,
    /// the command reads a file named `body`. A body that can't be seen is missing.
    public var curl: String {
        let url = ShownURL(request.url).text
        var words = ["curl \(Self.quoted(url))"]
        // Without this option, curl reads brackets and braces as ranges and lists of URLs.
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
            // curl sends an empty header only if a semicolon follows its name. With a colon, curl leaves it out.
            words.append("--header \(Self.quoted(value.isEmpty ? "\(name);" : "\(name): \(value)"))")
        }
        if let body {
            words.append(ShownBody.text(of: body).map { "--data-raw \(Self.quoted($0))" } ?? "--data-binary @body")
        }
        return words.joined(separator: " \\\n  ")
    }

    /// Returns a header's value; “redacted” if it may be a credential.
    private static func shown(_ value: String, of header: String) -> String {
        let isSecret =
            HTTPSyntax.credentialHeaders.contains(where: header.isSameHeader) || SecretName.isSecret(header)
            || SecretName.isIn(value)
        return isSecret ? "redacted" : value
    }

    /// Returns an argument, in single quotes unless it consists of letters and digits (POSIX.1, “Single-Quotes”).
    private static func quoted(_ argument: String) -> String {
        let isPlain = !argument.isEmpty && argument.utf8.allSatisfy { $0.isLetter || $0.isDigit }
        return isPlain ? argument : "'\(argument.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }
}
#endif
