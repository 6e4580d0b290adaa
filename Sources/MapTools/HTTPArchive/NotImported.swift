import LocalSubstitution

/// Why an archive's response isn't imported into a map. The description is readable.
package struct NotImported: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of reason, for programs.
    package let kind: String
    package let description: String

    private init(_ kind: String, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// - Parameter entry: The entry's position in the archive, from 1.
    static func noURL(entry: Int) -> Self { malformed("entry \(entry) of the archive has no request with a URL") }
    static let noMethod = malformed("the archive has no valid method for it")
    static let noStatus = malformed("the archive has no response with a status for it")
    private static func malformed(_ problem: String) -> Self { Self("malformed", problem) }
    static func url(_ problem: String) -> Self { Self("url", "the URL \(problem)") }
    static let pattern = Self("match", "no --match pattern matches it")
    static func method(_ method: String) -> Self {
        Self("method", "the method is \(method), which --methods doesn't list")
    }
    static func status(_ status: Int) -> Self {
        Self("status", status == 0 ? "there was no response: the status is 0" : "the status is \(status)")
    }
    static func type(_ type: String) -> Self { Self("type", "the MIME type is \(type.isEmpty ? "unknown" : type)") }
    static let noBody = Self("noBody", "no body was recorded")
    static func encoding(_ encoding: String) -> Self {
        Self("encoding", "the body's encoding “\(encoding)” is unknown")
    }
    static let brokenBody = Self("brokenBody", "the body can't be decoded: it isn't valid base64 or UTF-8")
    static func lostBytes(type: String) -> Self {
        Self("lostBytes", "the body is \(type), but was recorded as text, which lost some of its bytes")
    }
    static let eventStream = Self("eventStream", "an event stream doesn't end")
    static func query(_ parameter: SecretName.Parameter) -> Self { Self("query", parameter.description) }
    static func tooLarge(most: Int) -> Self {
        Self("tooLarge", "the body has more than \(most.grouped) bytes (--max-size)")
    }
    static let superseded = Self("superseded", "a later response to the same request is used")
    static let headOfGet = Self("headOfGet", "the entry for GET also answers HEAD")
    static func excluded(key: String) -> Self { Self("excluded", "the map excludes it (entry “\(key)”)") }
    static func entry(key: String) -> Self {
        Self("entry", "the map has another entry for it, “\(key)” (--force replaces it)")
    }
    static func unwritable(_ problem: String) -> Self { Self(failure, problem) }

    /// The kind of reason that is a failure: a file couldn't be written.
    package static let failure = "unwritable"
}
