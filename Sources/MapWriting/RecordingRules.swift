import HTTPSyntax
package import LocalSubstitution

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The rules that decide for which requests a recorder is used, and which responses it records. They don't depend on
/// the recorder's folder.
package enum RecordingRules {
    /// Returns the URL of a request in normal form. Throws a refusal if the URL is missing or invalid.
    package static func url(of request: URLRequest) throws(Complaint) -> NormalizedURL {
        do throws(Complaint) {
            return try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            throw .url(error.statement)
        }
    }

    /// Returns why a recorder isn't used for a request: the method isn't `GET`, or the request has a body or a
    /// credential. Returns `nil` if the recorder is used.
    ///
    /// A recorder is used for a request with `Range` or `Cookie`, too: on Linux, for example, every request has the
    /// session's cookies. Whether the response is recorded is decided when it has arrived.
    package static func refusal(of request: URLRequest, _ url: NormalizedURL) -> Complaint? {
        if let method = request.httpMethod, method != "GET" { return .method(method) }
        if request.httpBody != nil || request.httpBodyStream != nil { return .body }
        for name in HTTPSyntax.credentialHeaders
        where name != "Cookie" && request.value(forHTTPHeaderField: name) != nil {
            return .requestHeader(name)
        }
        return SecretName.first(in: url).map(Complaint.query)
    }

    /// Returns why a response isn't recorded because of the redirects that led to it: a redirected request has an
    /// invalid URL or a credential. With a credential, the response may be meant for one user only. Returns `nil` if no
    /// redirect prevents the recording.
    ///
    /// - Parameter redirects: The redirected requests, each for a redirect's target.
    package static func refusal(ofRedirects redirects: [URLRequest]) -> Complaint? {
        for request in redirects {
            let url: NormalizedURL
            do throws(Complaint) { url = try Self.url(of: request) } catch { return .redirect(error) }
            if let parameter = SecretName.first(in: url) { return .redirect(.query(parameter)) }
            for name in HTTPSyntax.credentialHeaders where request.value(forHTTPHeaderField: name) != nil {
                return .redirect(.requestHeader(name))
            }
        }
        return nil
    }

    /// The statuses of the responses that are recorded for a site (see ``Exchange/isBrowsed``). In an app's session,
    /// only responses with status 200 are recorded.
    package static let statuses = Redirect.statuses.union([200, 404, 410])

    /// Returns why a response isn't recorded; `nil` if it is.
    ///
    /// - Parameters:
    ///   - bytes: The length of the body, in bytes.
    ///   - most: The length of the longest body to record, in bytes.
    ///   - isBrowsed: Whether the response is part of a recorded site. If so, all of ``statuses`` are recorded, and
    ///     `Set-Cookie`, `Vary` and `Cache-Control` are ignored.
    package static func refusal(of response: HTTPURLResponse, bytes: Int, most: Int, isBrowsed: Bool) -> Complaint? {
        if let refusal = refusal(ofStatus: response.statusCode, isBrowsed: isBrowsed) { return refusal }
        if let location = response.value(forHTTPHeaderField: "Location"), SecretName.isIn(location) {
            return .secretHeader("Location")
        }
        if !isBrowsed, let refusal = refusal(ofSharing: response) { return refusal }
        return refusal(ofBytes: bytes, most: most)
    }

    /// For the parameter, see ``refusal(of:bytes:most:isBrowsed:)``.
    package static func refusal(ofStatus status: Int, isBrowsed: Bool) -> Complaint? {
        (isBrowsed ? statuses.contains(status) : status == 200) ? nil : .status(status)
    }

    /// Lengths in bytes.
    package static func refusal(ofBytes bytes: Int, most: Int) -> Complaint? {
        bytes > most ? .tooLarge(bytes: bytes, most: most) : nil
    }

    /// Returns why a response's headers suggest that it's meant for one user only; `nil` if they don't.
    private static func refusal(ofSharing response: HTTPURLResponse) -> Complaint? {
        if response.value(forHTTPHeaderField: "Set-Cookie") != nil { return .responseHeader("Set-Cookie") }
        if let vary = response.value(forHTTPHeaderField: "Vary"), HTTPSyntax.elements(of: vary).contains("*") {
            return .responseHeader("Vary: *")
        }
        if let control = response.value(forHTTPHeaderField: "Cache-Control") {
            let directives = HTTPSyntax.directives(of: control)
            for name in ["no-store", "private"] where directives[name] != nil { return .cacheControl(name) }
        }
        return nil
    }
}

extension RecordingRules {
    /// Returns the names of the request headers by which a server chose a response, according to its `Vary`.
    ///
    /// - Returns: The names that a condition in a map can compare, and whether there are others, such as `Cookie` or `*`.
    ///   Ignores `Accept-Encoding`, since bodies are decoded, and `Origin`, on which only CORS headers depend.
    package static func choosingHeaders(of response: HTTPURLResponse) -> (names: [String], hasOthers: Bool) {
        let vary = response.value(forHTTPHeaderField: "Vary") ?? ""
        var known: Set<String> = ["accept-encoding", "origin"]
        let all = HTTPSyntax.elements(of: vary).map(String.init).filter { known.insert($0.asciiLowercased).inserted }
        // A server that names more is broken or hostile.
        guard all.count <= 16 else { return ([], true) }
        let names = all.filter { name in
            HTTPSyntax.isToken(name) && name != "*" && !SecretName.isSecret(name)
                && !(HTTPSyntax.credentialHeaders + ["User-Agent"]).contains(where: name.isSameHeader)
        }
        // With `*`, the other names don't tell requests apart.
        return all.contains("*") ? ([], true) : (names, names.count < all.count)
    }

    /// A clause about a response that replaced a different one, although the server may have chosen between them.
    package static let keptLast =
        "only the last of several responses is recorded, since a map can't compare everything that “Vary” lists"

    /// How many different responses a URL has at most in a recorder's folder, and how many different requests a response.
    package static let mostRepresentations = 16

    /// A clause about a response for which the oldest one to another request was dropped.
    package static let keptNewest =
        "only the newest are recorded, since a URL has at most \(mostRepresentations) responses, "
        + "each to at most \(mostRepresentations) different requests"

    /// The clauses about responses that aren't recorded any more, since another one is.
    package static let keptOthers = [keptLast, keptNewest]

    /// The response headers that all recordings have, because clients read them. Headers that belong to one transfer (such
    /// as `Content-Encoding` and `Date`), to one user (`Set-Cookie`) or to a cache (such as `Cache-Control` and `ETag`) are
    /// left out. `Vary` is left out, too, since URLSession may reject a response with it from a cache.
    package enum Headers {
        /// Returns the headers to record, by name, and the names of the headers to leave out. If a header is left out
        /// since it may contain a credential, this reason follows its name in parentheses.
        ///
        /// - Parameter headers: The response's headers. `Content-Type` is neither recorded nor left out, since an entry has
        ///   other fields for it. But a parameter that may be a credential is listed as left out.
        package static func sorted(_ headers: [String: String]) -> (recorded: [String: String], leftOut: [String]) {
            var recorded: [String: String] = [:]
            var leftOut: [String] = []
            for (name, value) in headers where !name.isSameHeader(as: "Content-Type") {
                guard isRecorded(name.asciiLowercased) else {
                    leftOut.append(name)
                    continue
                }
                let spelled = spellings[name.asciiLowercased] ?? name
                guard HTTPSyntax.problem(ofHeader: name, value: value) == nil else {
                    leftOut.append(spelled)
                    continue
                }
                if SecretName.isIn(value) {
                    leftOut.append("\(spelled) (its value may be a credential)")
                } else {
                    recorded[spelled] = value
                }
            }
            if headers[header: "Content-Type"].map({ SecretName.isIn($0) }) == true {
                leftOut.append("a parameter of Content-Type (its value may be a credential)")
            }
            return (recorded, leftOut)
        }

        /// Returns the headers of a response that are recorded.
        package static func recorded(of response: HTTPURLResponse) -> [String: String] {
            sorted(response.headers).recorded
        }

        /// Unless the header's value may be a credential.
        ///
        /// - Parameter name: The header's name, in lowercase.
        package static func isRecorded(_ name: String) -> Bool {
            spellings[name] != nil || isRate(name)
                || prefixes.contains { name.hasPrefix($0) } && !ofTransfer.contains(name)
        }

        /// Returns whether a header, by its lowercase name, says how many requests a client may still make.
        /// An example is `x-ratelimit-remaining`.
        package static func isRate(_ name: String) -> Bool {
            name == "ratelimit" || name.hasPrefix("ratelimit-") || name.contains("-ratelimit-")
        }

        private static let spellings: [String: String] = {
            let names = [
                "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
                "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
                "Content-Disposition", "Content-Language", "Content-Security-Policy", "Cross-Origin-Embedder-Policy",
                "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Deprecation", "Link", "Location",
                "Permissions-Policy", "Referrer-Policy", "Refresh", "Retry-After", "Service-Worker-Allowed",
                "SourceMap", "Sunset", "X-Content-Type-Options", "X-Frame-Options", "X-Robots-Tag", "X-Total-Count",
            ]
            return Dictionary(names.map { ($0.asciiLowercased, $0) }) { $1 }
        }()
        private static let prefixes = ["access-control-", "content-"]
        /// Headers that a map's response sets itself, or that would be wrong for it.
        private static let ofTransfer = ["content-length", "content-encoding", "content-range"]

        /// Returns why a header that a closure has set isn't written; `nil` if it is.
        static func reasonToLeaveOut(_ name: String, value: String) -> String? {
            // Only its type and charset are written if it seems to contain a credential.
            if name.isSameHeader(as: "Content-Type") { return nil }
            if HTTPSyntax.problem(ofHeader: name, value: value) != nil { return "a map can't set it" }
            return SecretName.isIn(header: name, value: value) ? "it may be a credential" : nil
        }

        /// Returns a clause that names the headers left out because their value seems to contain a credential; `nil` if
        /// there are none. If it names `Content-Type`, the type and charset are still recorded.
        package static func noteOnWithheld(of response: HTTPURLResponse) -> String? {
            let withheld = response.headers.filter { isRecorded($0.key.asciiLowercased) && SecretName.isIn($0.value) }
                .keys.map { spellings[$0.asciiLowercased] ?? $0 }.sorted()
            guard !withheld.isEmpty else { return nil }
            let list = withheld.map { "“\($0)”" }.joined(separator: " and ")
            return withheld.count == 1
                ? "without the header \(list), which may contain a credential"
                : "without the headers \(list), which may contain credentials"
        }
    }
}

/// The reasons why a request's response isn't recorded. Each is a clause without a period. If an entry excludes the URL
/// from recording, the complaint has the entry's key. The reasons with a kind also keep a response from being imported, and
/// `import --json` prints the kind.
extension Complaint {
    package static func method(_ method: String) -> Complaint {
        Complaint(RecordingRules.VariedReason.method.text(method))
    }
    package static let body = Complaint("the request has a body")
    package static func url(_ problem: String) -> Complaint { Complaint(kind: "url", "the URL \(problem)") }
    package static func excluded(key: String) -> Complaint {
        Complaint(key: key, "the entry “\(key)” in the recorder's map excludes the URL")
    }
    package static func entry(key: String) -> Complaint {
        Complaint(key: key, "the map's entry “\(key)” is for the URL, and wasn't written by a recorder")
    }
    package static func query(_ parameter: SecretName.Parameter) -> Complaint {
        Complaint(kind: "query", parameter.description)
    }
    package static func status(_ status: Int) -> Complaint {
        status == 206 ? part : Complaint(RecordingRules.VariedReason.status.text(String(status)))
    }
    package static let part = Complaint(kind: "part", "the response is only a part of the file (status 206)")
    package static func responseHeader(_ header: String) -> Complaint {
        Complaint("the response has the header “\(header)”")
    }
    /// Returns the reason for a redirect whose `Location` may contain a credential. A redirect can't be recorded
    /// without this header.
    package static func secretHeader(_ name: String) -> Complaint {
        Complaint("the response's header “\(name)” may contain a credential")
    }
    package static func cacheControl(_ directive: String) -> Complaint {
        Complaint("the response's Cache-Control says “\(directive)”")
    }
    package static func tooLarge(bytes: Int, most: Int) -> Complaint {
        Complaint(
            "it has \(bytes.grouped) bytes, but one response can have at most \(most.grouped) "
                + "(a twentieth of the recorder's limit)"
        )
    }
    package static let excludedByClosure = Complaint("the redacting closure excludes it")
    package static let closed = Complaint("the recorder was closed")
}

extension RecordingRules {
    /// A reason why responses aren't recorded that names a value, such as a response's status.
    package struct VariedReason: Sendable {
        private let start: String
        private let end: String
        /// The reason without the value.
        package let summary: String

        fileprivate static let method = VariedReason(
            start: "the method is ",
            end: "; only GET is recorded",
            summary: "only the method GET is recorded"
        )
        fileprivate static let status = VariedReason(
            start: "the status is ",
            end: ", which isn't recorded",
            summary: "the status isn't recorded"
        )
        package static let all = [method, status]

        fileprivate func text(_ value: String) -> String { "\(start)\(value)\(end)" }

        /// Returns the value that a reason names; `nil` for another reason.
        package func value(in reason: String) -> String? {
            guard reason.hasPrefix(start), reason.hasSuffix(end), reason.count > start.count + end.count
            else { return nil }
            return String(reason.dropFirst(start.count).dropLast(end.count))
        }
    }
}
