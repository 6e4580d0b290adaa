package import HTTPSyntax

extension HTTPSyntax {
    /// What's wrong with a header that an entry sets, and how to fix it.
    ///
    /// - Parameter isOfRequest: Whether the entry sets the header on a forwarded request; `false`, the default, for a
    ///   response.
    package static func problem(ofHeader name: String, value: String, isOfRequest: Bool = false) -> String? {
        guard isToken(name) else { return "“\(name)” isn't a header name. Use letters, digits and hyphens." }
        guard isFieldValue(value.utf8) else {
            return "The header “\(name)” has a control character in its value. Remove the character."
        }
        let wrong = isOfRequest ? "host" : "content-encoding"
        guard [wrong, "content-length", "transfer-encoding"].contains(where: name.isSameHeader) else { return nil }
        return isOfRequest
            ? "The header “\(name)” can't be set on a request, because the URL and body determine it. Remove the header."
            : "The header “\(name)” can't be set, because it wouldn't match the body. Remove the header."
    }

    /// The headers that describe a response's exact bytes, so that they're wrong for another body.
    package static let headersOfBytes = [
        "Content-Digest", "Content-MD5", "Digest", "ETag", "Last-Modified", "Repr-Digest",
    ]

    /// The request headers that identify a user to a server. The response may be meant for that user alone.
    package static let credentialHeaders = ["Authorization", "Proxy-Authorization", "Cookie"]
}
