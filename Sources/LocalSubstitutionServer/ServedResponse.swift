import HTTPSyntax

#if !os(watchOS)
import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response as the client receives it.
struct ServedResponse: Sendable {
    /// The status and headers; `nil` if the client gets an entry's error. Then the body alone is sent, which isn't HTTP.
    let head: ResponseHead?
    let body: Response.Body
    let source: SubstitutionServer.LoggedRequest.Source
    /// The loader's response, before the server adapted it for the client; `nil` if the server created this response
    /// itself.
    let original: HTTPURLResponse?
    /// How fast to send the body; `nil` to send it at once, or as it arrives.
    var rate: Rate?
}

extension ServedResponse {
    /// The longest document or style sheet to rewrite, in bytes. If a longer one arrives from the network or from a
    /// large file, the client gets a response with status 502 instead. Data in memory has no limit.
    private static let longestRewritten = 32 << 20

    private static var tooLong: URLError {
        let most = longestRewritten >> 20
        let message = "HTML or CSS of more than \(most) MiB can't be rewritten. Use a smaller document."
        return .explained(.dataLengthExceedsMaximum, message, nil)
    }

    /// Creates a text response that says why the request has no other.
    ///
    /// - Parameter url: The URL that failed, to write before the reason; `nil`, the default, to write only the reason.
    ///   The log always gets only the reason, since each line of the log has the URL anyway.
    init(status: Int, _ reason: String, at url: URL? = nil) {
        self.init(
            head: ResponseHead(
                status: status,
                fields: [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
            ),
            body: .data(Data("\(url.map { "\($0.absoluteString): " } ?? "")\(reason)\n".utf8)),
            source: .failed(reason),
            original: nil
        )
    }

    /// Creates what a client gets instead of a response if an entry says that the request fails: a line with the error's
    /// name. Since that isn't HTTP, the client fails, too. If the connection was only closed, browsers and Linux's
    /// URLSession would repeat the request.
    private init(failing error: URLError) {
        self.init(
            head: nil,
            // A line that begins with an error such as `httpTooManyRedirects` would be HTTP to a browser.
            body: .data(Data("error: \(URLErrors.text(error.code))\r\n".utf8)),
            source: .failed(error.localizedDescription),
            original: nil
        )
    }

    /// Adapts the loader's response to a client. A request that failed, or whose response can't be rewritten, gets a
    /// response with status 502. Unless a person opens the URL as a page, an entry's error makes the client's request
    /// fail instead.
    ///
    /// - Parameters:
    ///   - url: The URL at the origin.
    ///   - rewritesReferences: Whether references in documents and style sheets are rewritten.
    init(_ response: RequestOutcome, to request: ServedRequest, for url: URL, rewritesReferences: Bool) {
        do throws(URLError) {
            let received = try response.result.get()
            guard let head = received.head as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            var body = received.body ?? .data(Data())
            let rewriter = ReferenceRewriter(of: request.origin, local: request.local)
            // A stream isn't rewritten: its pieces are sent as they are, each when it's due.
            let syntax = rewritesReferences && !response.isStream ? References.Syntax(of: head) : nil
            if let syntax {
                guard let bytes = try body.whole(upTo: Self.longestRewritten) else { throw Self.tooLong }
                let charset = DocumentCharset.named(in: head.contentType)
                body = .data(rewriter.rewritten(bytes, as: syntax, charset: charset) ?? bytes)
            }
            let fields = Self.fields(of: head, for: request, rewriter, isRewritten: syntax != nil)
            var adapted = ResponseHead(status: head.statusCode, fields: fields)
            adapted.removeInvalidFields()
            let source: SubstitutionServer.LoggedRequest.Source =
                switch response.kind {
                case .matched, .usedOffline: .matched
                case .confirmed: .confirmed
                case .forwarded, .passed, .failed, .erred, .mishandled, .unmatched: .network
                }
            self.init(head: adapted, body: body, source: source, original: head, rate: response.rate)
        } catch {
            if case .erred = response.kind, !request.isNavigation {
                self.init(failing: error)
            } else {
                self.init(status: 502, error.localizedDescription, at: url)
            }
        }
    }
}

// MARK: Headers

extension ServedResponse {
    /// The names, in lowercase, of response headers that the client never gets. The comment on each group says why.
    private static let dropped: Set<String> = [
        // These name origins, or keep a page's origins apart.
        "content-security-policy", "content-security-policy-report-only", "cross-origin-opener-policy",
        "cross-origin-opener-policy-report-only", "cross-origin-embedder-policy",
        "cross-origin-embedder-policy-report-only", "cross-origin-resource-policy", "origin-agent-cluster",
        // These apply to https, to other servers, or to data that the browser stores for all ports together.
        "strict-transport-security", "alt-svc", "clear-site-data", "nel", "report-to", "reporting-endpoints",
        // `ServedConnection` sends `Cache-Control: no-store` in place of these.
        "cache-control", "expires", "pragma", "age",
    ]

    /// The headers that describe a body's exact bytes, in lowercase. They're dropped if the body is rewritten.
    private static let ofBytes: Set<String> = [
        "accept-ranges", "content-digest", "content-length", "content-md5", "digest", "etag", "repr-digest",
    ]

    /// The content codings that URLSession decodes, in lowercase. The client gets the decoded body.
    private static let decodedCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// Returns the header fields of the loader's response, adapted for the client.
    private static func fields(
        of response: HTTPURLResponse,
        for request: ServedRequest,
        _ rewriter: ReferenceRewriter,
        isRewritten: Bool
    ) -> [(name: String, value: String)] {
        let all = response.headers
        var dropped = dropped.union(ServedRequest.ofConnection(naming: all[header: "Connection"]))
        if isRewritten { dropped.formUnion(ofBytes) }
        if !decodedCodings.isDisjoint(with: HTTPSyntax.lowercasedElements(of: all[header: "Content-Encoding"])) {
            dropped.formUnion(["content-encoding", "content-length"])
        }
        // `Transfer-Encoding` overrides `Content-Length` (RFC 9112 section 6.3).
        if all[header: "Transfer-Encoding"] != nil { dropped.insert("content-length") }
        // The page that asks, as the browser spells its origin.
        let asking = request.received.header("Origin").flatMap { text in
            request.origins.origin(ofLocal: text).map { (text: text, origin: $0) }
        }
        var fields: [(name: String, value: String)] = []
        for (name, value) in all {
            let key = name.asciiLowercased
            if dropped.contains(key) { continue }
            if key == "set-cookie" {
                let cookies = ServedCookies(of: request.origin)
                fields += ServedCookies.separated(value).map { (name, cookies.set($0)) }
                continue
            }
            let adapted: String? =
                switch key {
                // An origin may repeat the header. The client gets the length once, or not at all if it isn't a number.
                case "content-length": HTTPSyntax.length(value).map { String($0) }
                case "location": rewriter.url(value) ?? value
                case "link": rewriter.links(value)
                case "refresh": rewriter.refresh(value)
                case "referrer-policy": ReferenceRewriter.referrerPolicy(value)
                case "access-control-allow-origin":
                    WebOrigin(of: value).flatMap { $0 == asking?.origin ? asking?.text : request.local(for: $0) }
                        ?? value
                default: value
                }
            if let adapted { fields.append((name, adapted)) }
        }
        // Lets a page from one served origin read a response from another, unless the response itself says who may read
        // it.
        if let asking, asking.origin != request.origin, all[header: "Access-Control-Allow-Origin"] == nil {
            fields += [
                ("Access-Control-Allow-Origin", asking.text), ("Access-Control-Allow-Credentials", "true"),
                ("Vary", "Origin"),
            ]
        }
        return fields
    }
}

extension ReferenceRewriter {
    /// Returns a `Link` header with its URLs rewritten: `<URL>; rel=preload, <URL>; rel=…` (RFC 8288 section 3).
    fileprivate func links(_ value: String) -> String {
        var result = ""
        var rest = value[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let url = String(rest[rest.index(after: start)..<end])
            result += rest[...start] + (self.url(url) ?? url)
            rest = rest[end...]
        }
        return result + rest
    }
}

// MARK: Bodies

extension HTTPURLResponse {
    fileprivate var contentType: String { value(forHTTPHeaderField: "Content-Type") ?? "" }
}

extension References.Syntax {
    /// Creates the syntax of a response's body from its MIME type. Returns `nil` if the body isn't HTML, XHTML or CSS:
    /// other bodies aren't rewritten.
    init?(of head: HTTPURLResponse) {
        switch MIMEType.essence(of: head.contentType) {
        case "text/html": self = .html
        case "application/xhtml+xml": self = .xhtml
        case "text/css": self = .css
        default: return nil
        }
    }
}
#endif
