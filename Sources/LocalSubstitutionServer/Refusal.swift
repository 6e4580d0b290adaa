import Foundation
import Loopback
import WebReferences

#if !os(watchOS)
/// A server's refusal to answer a request, whatever the map says.
struct Refusal: Error {
    let status: Int
    let reason: String

    /// Throws a refusal if the server doesn't answer a request.
    ///
    /// - Parameter port: The port on which the request arrived.
    static func check(_ request: HTTPRequest, port: UInt16, _ origins: ServedOrigins) throws(Refusal) {
        // Another site can make its name point to 127.0.0.1 (DNS rebinding). Its pages must not read the origin's responses.
        let hosts = [request.header("Host") ?? "", request.authority].compactMap { $0 }
        if let foreign = hosts.first(where: { !isOwn($0, port) }) {
            throw Refusal(
                status: 421,
                reason: "The host “\(foreign)” isn't served here. Use \(ServedOrigins.local(port))."
            )
        }
        guard request.path.hasPrefix("/") else {
            throw Refusal(status: 400, reason: "“\(request.target)” isn't a path.")
        }
        // A service worker would answer for all later pages on this port, even after the map has changed.
        guard request.header("Service-Worker") == nil else {
            throw Refusal(status: 403, reason: "Service workers aren't served, because they would outlive the server.")
        }
        guard ["GET", "HEAD"].contains(request.method) || !isCrossSite(request, origins) else {
            throw Refusal(
                status: 403,
                reason:
                    "\(request.method) requests from \(request.header("Origin") ?? "another site") aren't answered. "
                    + "Only pages of this server may send them."
            )
        }
    }

    /// Returns whether a host is this machine, with or without the port.
    private static func isOwn(_ host: String, _ port: UInt16) -> Bool {
        let host = host.lowercased()
        return ["127.0.0.1", "localhost"].contains { host == $0 || host == "\($0):\(port)" }
    }

    /// Returns whether a page that isn't served here sent the request. Clients other than browsers send neither header.
    private static func isCrossSite(_ request: HTTPRequest, _ origins: ServedOrigins) -> Bool {
        let origin = request.header("Origin")
        if let origin, origins.origin(ofLocal: origin.lowercased()) != nil { return false }
        // A page's policy may hide its origin. A browser considers other ports of this machine the same site.
        guard let site = request.header("Sec-Fetch-Site")?.lowercased() else { return origin != nil }
        return !["same-origin", "none"].contains(site)
    }
}
#endif
