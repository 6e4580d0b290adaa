import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if !os(watchOS)
/// The headers of a client's request, adapted for the origin.
struct RequestHeaders {
    /// Credentials for a proxy, and headers that the session sets itself.
    private static let dropped: Set<String> = [
        "proxy-authorization", "host", "accept-encoding", "content-length", "expect", "cookie",
    ]

    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    /// Returns the lowercase names of headers that belong to one connection, including those that its header `Connection` names
    /// (RFC 9110 section 7.6.1).
    static func ofConnection(naming others: String?) -> Set<String> {
        others.map { ofConnection.union(HTTPRequest.elements(of: $0)) } ?? ofConnection
    }

    let port: UInt16
    let origins: ServedOrigins

    /// Returns the request to send to the origin.
    ///
    /// - Parameter isWhole: Whether to request the whole body, even if the client requests a range.
    func request(_ received: HTTPRequest, for url: URL, isWhole: Bool) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = received.method
        let isBodiless = ["GET", "HEAD"].contains(received.method) && received.body.isEmpty
        if !isBodiless { request.httpBody = received.body }
        let ofConnection = Self.ofConnection(naming: received.header("Connection"))
        for (name, value) in received.headers {
            let key = name.asciiLowercased
            if Self.dropped.contains(key) || ofConnection.contains(key) { continue }
            if isWhole, key == "range" || key == "if-range" { continue }
            request.addValue(key == "origin" || key == "referer" ? original(value) : value, forHTTPHeaderField: name)
        }
        let cookies = received.headers.filter { $0.name.isSameHeader(as: "Cookie") }.map(\.value)
        if !cookies.isEmpty, let origin = origins.origin(of: port),
            let own = ServedCookies(of: origin).requested(cookies)
        {
            request.setValue(own, forHTTPHeaderField: "Cookie")
        }
        // Part of a compressed body can't be decoded.
        if request.value(forHTTPHeaderField: "Range") != nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        return request
    }

    /// Returns the origin's form of a local URL or origin.
    private func original(_ text: String) -> String {
        let local = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(
            separator: "/"
        )
        guard let origin = origins.origin(ofLocal: local) else { return text }
        return origin.description + text.dropFirst(local.count)
    }
}
#endif
