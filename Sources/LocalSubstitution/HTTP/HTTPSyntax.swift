/// What HTTP lets stand in names and values (RFC 9110 §5).
package enum HTTPSyntax {
    /// RFC 9110 §5.6.2.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { tokenBytes.contains($0) }
    }

    /// Whether a text is type/subtype (RFC 9110 §8.3.1), without parameters.
    static func isMIMEType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isToken($0) }
    }

    /// What is wrong with a header that an entry sets.
    static func problem(ofHeader name: String, value: String) -> String? {
        if let problem = syntaxProblem(ofHeader: name, value: value) { return problem }
        if ["content-length", "content-encoding", "transfer-encoding"].contains(name.lowercased()) {
            return "the header “\(name)” can't be set, since it wouldn't match the body: remove it"
        }
        return nil
    }

    /// What is wrong with a header that an entry sets on a request, or removes from it.
    static func problem(ofRequestHeader name: String, value: String) -> String? {
        if let problem = syntaxProblem(ofHeader: name, value: value) { return problem }
        if ["host", "content-length", "transfer-encoding"].contains(name.lowercased()) {
            return "the header “\(name)” can't be set on a request, since the URL and body determine it: remove it"
        }
        return nil
    }

    private static func syntaxProblem(ofHeader name: String, value: String) -> String? {
        guard isToken(name) else { return "“\(name)” is no header name: letters, digits and hyphens" }
        // RFC 9110 §5.5: visible characters, space and tab; everything above ASCII is opaque.
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            return "the header “\(name)” has a control character in its value"
        }
        return nil
    }

    private static let tokenBytes = AllowedBytes(
        "!#$%&'*+-.^_`|~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    )
}
