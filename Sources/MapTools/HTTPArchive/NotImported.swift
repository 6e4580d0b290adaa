import LocalSubstitution

/// Why an archive's response is not taken into a map. The description is readable.
package enum NotImported: Sendable, Hashable, CustomStringConvertible {
    case malformed
    case url(String)
    case pattern
    case method(String)
    case status(Int)
    case type(String)
    case noBody
    case encoding(String)
    case brokenBody
    case lostBytes(type: String)
    case eventStream
    case query(String)
    case tooLarge(most: Int)
    case superseded
    case excluded(key: String)
    case entry(key: String)
    case unwritable(String)

    package var description: String {
        switch self {
        case .malformed: "the archive's entry has no request with a URL, or no response"
        case .url(let problem): "the URL \(problem)"
        case .pattern: "no --match pattern matches it"
        case .method(let method): "the method is \(method): only GET is taken"
        case .status(0): "there was no response: the status is 0"
        case .status(let status): "the status is \(status)"
        case .type(let type): "the MIME type is \(type.isEmpty ? "not known" : type)"
        case .noBody: "no body was recorded"
        case .encoding(let encoding): "the body's encoding “\(encoding)” is not known"
        case .brokenBody: "the body can't be decoded: it is no base64, or no text"
        case .lostBytes(let type): "the body is \(type), but was recorded as text, and bytes of it are lost"
        case .eventStream: "an event stream has no end"
        case .query(let name): "the URL's parameter “\(name)” may be a credential"
        case .tooLarge(let most): "the body has more than \(most) bytes (--max-size)"
        case .superseded: "a later response for the same URL counts"
        case .excluded(let key): "the map excludes it (entry “\(key)”)"
        case .entry(let key): "the map has another entry for it (“\(key)”): --force replaces it"
        case .unwritable(let problem): problem
        }
    }

    /// The sort of reason, for programs.
    package var kind: String {
        switch self {
        case .malformed: "malformed"
        case .url: "url"
        case .pattern: "match"
        case .method: "method"
        case .status: "status"
        case .type: "type"
        case .noBody: "noBody"
        case .encoding: "encoding"
        case .brokenBody: "brokenBody"
        case .lostBytes: "lostBytes"
        case .eventStream: "eventStream"
        case .query: "query"
        case .tooLarge: "tooLarge"
        case .superseded: "superseded"
        case .excluded: "excluded"
        case .entry: "entry"
        case .unwritable: "unwritable"
        }
    }
}
