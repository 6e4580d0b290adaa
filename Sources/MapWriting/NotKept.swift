package import LocalSubstitution

/// Why a recorder doesn't keep a response. The description is readable.
package enum NotKept: Error, Hashable, CustomStringConvertible {
    case method(String)
    case body
    case url(String)
    case eventStream
    case excluded(key: String)
    case entry(key: String)
    case requestHeader(String)
    /// A redirect led to the response, and the request for its target has this reason.
    indirect case redirect(NotKept)
    case query(SecretName.Parameter)
    case status(Int)
    case responseHeader(String)
    /// A header without which the response isn't the same.
    case secretHeader(String)
    case cacheControl(String)
    case tooLarge(bytes: Int, most: Int)
    case notHeld(most: Int)
    case refused
    case closed

    package var description: String {
        switch self {
        case .method(let method): "the method is \(method); only GET is recorded"
        case .body: "the request has a body"
        case .url(let problem): "the URL \(problem)"
        case .eventStream: "an event stream never ends"
        case .excluded(let key): "the recorder's map excludes it (entry “\(key)”)"
        case .entry(let key): "the map has an entry for it that wasn't recorded (“\(key)”)"
        case .requestHeader(let name): "the request has the header “\(name)”"
        case .redirect(let reason): "after a redirect, \(reason)"
        case .query(let parameter): parameter.description
        case .status(let status): "the status is \(status); only 200 is recorded"
        case .responseHeader(let header): "the response has the header “\(header)”"
        case .secretHeader(let name): "the response's header “\(name)” may contain a credential"
        case .cacheControl(let directive): "the response's Cache-Control says “\(directive)”"
        case .tooLarge(let bytes, let most):
            "it has \(bytes.grouped) bytes, over the limit of \(most.grouped) for one response "
                + "(a twentieth of the total)"
        case .notHeld(let most): "it's longer than \(most.grouped) bytes, the most that is held in memory"
        case .refused: "the recorder's redaction refused it"
        case .closed: "the recorder was closed"
        }
    }
}
