import HTTPSyntax

#if !os(watchOS)
import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client's request to one of a server's ports. The server refuses it, responds itself, or turns it into a request to
/// the origin.
struct ServedRequest: Sendable {
    var received: HTTPRequest
    let port: UInt16
    /// The origin that the client's port serves.
    let origin: WebOrigin
    let origins: ServedOrigins
    /// The URL at the origin; `nil` if the request's path isn't valid in a URL.
    let url: URL?

    init(_ received: HTTPRequest, port: UInt16, of origin: WebOrigin, among origins: ServedOrigins) {
        self.received = received
        self.port = port
        self.origin = origin
        self.origins = origins
        url = URLText.url(origin.description + received.pathAndQuery)
    }

    /// Returns the local origin that serves an origin, with the client's spelling of this machine's name: to browsers,
    /// `localhost` and `127.0.0.1` are two sites. Returns `nil` if the origin isn't served.
    func local(for origin: WebOrigin) -> String? {
        let host = (received.authority ?? received.header("Host") ?? "").prefix { $0 != ":" }.lowercased()
        return origins.local(for: origin).map {
            host == "localhost" ? $0.replacingOccurrences(of: "127.0.0.1", with: host) : $0
        }
    }

    // MARK: Requests to which the server responds itself

    /// The response to a request that the server refuses, even if an entry matches; `nil` for any other request.
    var refusal: ServedResponse? {
        // HTTP/1.0 allows a request without Host.
        guard let host = received.header("Host") else {
            return ServedResponse(
                status: 400,
                "The request has no header Host. Send Host: 127.0.0.1:\(port)."
            )
        }
        // Another site can make its name point to 127.0.0.1 (DNS rebinding). That site's pages must not read the
        // origin's responses.
        let hosts = [host, received.authority].compactMap { $0 }
        if let foreign = hosts.first(where: { !isOwn($0) }) {
            return ServedResponse(
                status: 421,
                "The host “\(foreign)” isn't served here. Use \(ServedOrigins.local(port))."
            )
        }
        guard received.path.hasPrefix("/") else {
            return ServedResponse(
                status: 400,
                "“\(received.target)” isn't a path. Request a path that begins with a slash."
            )
        }
        // A service worker would respond to all later pages on this port, even after the map has changed.
        guard received.header("Service-Worker") == nil else {
            return ServedResponse(
                status: 403,
                "Service workers aren't served, because they would outlive the server. "
                    + "Use the page without its service worker."
            )
        }
        guard ["GET", "HEAD"].contains(received.method) || !isCrossSite else {
            return ServedResponse(
                status: 403,
                "\(received.method) requests from \(received.header("Origin") ?? "another site") aren't accepted. "
                    + "Send them from a page that this server serves."
            )
        }
        return nil
    }

    /// Returns whether a host is `127.0.0.1` or `localhost`, either without a port or with the port of this request.
    private func isOwn(_ host: String) -> Bool {
        let host = host.lowercased()
        return ["127.0.0.1", "localhost"].contains { host == $0 || host == "\($0):\(port)" }
    }

    /// Whether a page that this server doesn't serve sent the request, according to `Origin` and `Sec-Fetch-Site`.
    /// `false` if the request has neither header, since only browsers send them.
    private var isCrossSite: Bool {
        let origin = received.header("Origin")
        if let origin, origins.origin(ofLocal: origin.lowercased()) != nil { return false }
        // A page's policy may hide its origin. Then `Sec-Fetch-Site` decides. Its value `same-site` isn't enough: for
        // browsers, other ports of this machine are the same site.
        guard let site = received.header("Sec-Fetch-Site")?.lowercased() else { return origin != nil }
        return !["same-origin", "none"].contains(site)
    }

    /// The response to a CORS preflight (WHATWG Fetch, section 3.3.4) from a page that this server serves; `nil` for
    /// any other request. The response allows the request that the page wants to send.
    ///
    /// The server doesn't forward preflights, since the origin's server knows the page under another origin.
    var preflightResponse: ServedResponse? {
        guard received.method == "OPTIONS", let method = received.header("Access-Control-Request-Method"),
            let origin = received.header("Origin"), origins.origin(ofLocal: origin) != nil
        else { return nil }
        var head = ResponseHead(status: 204)
        head.fields = [
            ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Methods", method),
            ("Access-Control-Allow-Credentials", "true"),
        ]
        if let names = received.header("Access-Control-Request-Headers") {
            head.fields.append(("Access-Control-Allow-Headers", names))
        }
        return ServedResponse(head: head, body: .data(Data()), source: .matched, original: nil)
    }

    // MARK: What the origin gets

    /// The request headers that aren't forwarded, besides hop-by-hop headers: credentials for a proxy, and headers that
    /// the server or its session sets itself.
    private static let dropped: Set<String> = [
        "proxy-authorization", "host", "accept-encoding", "content-length", "expect", "cookie",
    ]

    /// The hop-by-hop headers, in lowercase.
    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    /// Returns the names of hop-by-hop headers, in lowercase (RFC 9110 section 7.6.1).
    ///
    /// - Parameter others: The value of `Connection`, whose elements are hop-by-hop headers, too; `nil` if the header
    ///   is missing.
    static func ofConnection(naming others: String?) -> Set<String> {
        others.map { ofConnection.union(HTTPSyntax.lowercasedElements(of: $0)) } ?? ofConnection
    }

    /// Whether the client asks for a document or a style sheet, according to `Sec-Fetch-Dest` and `Accept`.
    var asksForDocument: Bool {
        let destination = received.header("Sec-Fetch-Dest") ?? ""
        return ["document", "embed", "frame", "iframe", "object", "style"].contains(destination)
            || received.header("Accept")?.contains("text/html") == true
    }

    /// Whether someone opens a page with this request, and so can read why it failed.
    var isNavigation: Bool { received.header("Sec-Fetch-Mode").map { $0 == "navigate" } ?? asksForDocument }

    /// Returns the request to send to the origin.
    ///
    /// - Parameters:
    ///   - url: The URL at the origin.
    ///   - isWhole: Whether to request the whole body, even if the client requests a range.
    func forOrigin(_ url: URL, isWhole: Bool) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = received.method
        let hasEmptyBody = !["GET", "HEAD"].contains(received.method) && received.header("Content-Length") != nil
        if !received.body.isEmpty || hasEmptyBody { request.httpBody = received.body }
        let ofConnection = Self.ofConnection(naming: received.header("Connection"))
        for (name, value) in received.headers {
            let key = name.asciiLowercased
            if Self.dropped.contains(key) || ofConnection.contains(key) { continue }
            if isWhole, key == "range" || key == "if-range" { continue }
            request.addValue(key == "origin" || key == "referer" ? original(value) : value, forHTTPHeaderField: name)
        }
        let cookies = received.headers.filter { $0.name.isSameHeader(as: "Cookie") }.map(\.value)
        if !cookies.isEmpty, let own = ServedCookies(of: origin).requested(cookies) {
            request.setValue(own, forHTTPHeaderField: "Cookie")
        }
        // A part of a compressed body can't be decoded, so the origin is asked not to compress it.
        if request.value(forHTTPHeaderField: "Range") != nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        return request
    }

    /// Returns a local URL or origin with the local origin replaced by the origin that it serves. Returns any other
    /// text unchanged.
    private func original(_ text: String) -> String {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let local = parts.prefix(3).joined(separator: "/")
        guard let origin = origins.origin(ofLocal: local) else { return text }
        return origin.description + text.dropFirst(local.count)
    }
}
#endif
