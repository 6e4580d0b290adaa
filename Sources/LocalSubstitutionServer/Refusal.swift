import Foundation
import Loopback
import WebReferences

#if !os(watchOS)
/// Requests that a server refuses, whatever the map says.
struct Refusal: Error {
    let status: Int
    let reason: String

    /// - Parameter port: The port on which the request arrived.
    static func check(_ request: HTTPRequest, port: UInt16, _ origins: ServedOrigins) throws(Refusal) {
        // Another site can make its name point to 127.0.0.1. Its pages must not read the origin's responses (DNS rebinding).
        let hosts = [request.header("Host") ?? "", request.authority].compactMap { $0 }
        if let foreign = hosts.first(where: { !isOwn($0, port) }) {
            throw Refusal(
                status: 421,
                reason: "the host “\(foreign)” isn't served here: use \(ServedOrigins.local(port))"
            )
        }
        guard request.path.hasPrefix("/") else {
            throw Refusal(status: 400, reason: "“\(request.target)” isn't a path")
        }
        // A service worker would answer for all later pages on this port, even with another map.
        guard request.header("Service-Worker") == nil else {
            throw Refusal(status: 403, reason: "service workers aren't served, since they would outlive the server")
        }
        guard ["GET", "HEAD"].contains(request.method) || !isCrossSite(request, origins) else {
            throw Refusal(
                status: 403,
                reason: "a \(request.method) from \(request.header("Origin") ?? "another site") isn't answered: "
                    + "only pages of this server may send one"
            )
        }
    }

    /// Whether a host is this machine, with or without the port.
    private static func isOwn(_ host: String, _ port: UInt16) -> Bool {
        let host = host.lowercased()
        return ["127.0.0.1", "localhost"].contains { host == $0 || host == "\($0):\(port)" }
    }

    /// Whether a page that isn't served here sent the request. Clients other than browsers send neither header.
    private static func isCrossSite(_ request: HTTPRequest, _ origins: ServedOrigins) -> Bool {
        let origin = request.header("Origin")
        if let origin, origins.origin(ofLocal: origin.lowercased()) != nil { return false }
        // A page's policy may hide its origin. To a browser, other ports of this machine are the same site.
        guard let site = request.header("Sec-Fetch-Site")?.lowercased() else { return origin != nil }
        return !["same-origin", "none"].contains(site)
    }
}
#endif
