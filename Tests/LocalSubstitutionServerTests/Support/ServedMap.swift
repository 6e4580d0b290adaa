import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionServer
import TestSupport

/// A server with its own map.
struct ServedMap: Sendable {
    let folder: TemporaryFolder
    let cache: LocalSubstitutionCache
    let server: SubstitutionServer

    /// - Parameters:
    ///   - files: The files of the map, by name.
    ///   - cache: The cache to use instead of one for the map.
    init(
        _ map: String,
        files: [String: String] = [:],
        unmatched: LocalSubstitutionCache.Unmatched = .fail,
        recorder: SubstitutionRecorder? = nil,
        ports: [String: UInt16] = [:],
        rewritesReferences: Bool = true,
        sendsCredentials: Bool = false,
        cache: LocalSubstitutionCache? = nil
    ) throws {
        folder = try TemporaryFolder()
        try folder.write("substitutions.json", map)
        for (name, text) in files { try folder.write("Resources/\(name)", text) }
        self.cache = try cache ?? LocalSubstitutionCache(contentsOf: folder.file("substitutions.json"))
        server = try SubstitutionServer(
            cache: self.cache,
            unmatched: unmatched,
            recorder: recorder,
            ports: ports,
            rewritesReferences: rewritesReferences,
            sendsCredentials: sendsCredentials
        )
    }

    /// Returns the local origin that stands for an origin.
    func local(_ origin: String) throws -> String {
        let url = try server.url(for: URL(string: origin) ?? folder.url)
        return String(url.absoluteString.dropLast(url.path.count))
    }

    func port(_ origin: String) throws -> UInt16 {
        UInt16(try URL(string: local(origin))?.port ?? 0)
    }

    /// Returns what the names of an origin's cookies begin with at the client.
    func cookiePrefix(_ origin: String) -> String {
        origin.replacing("://", with: "+").replacing(":", with: "+") + "~"
    }

    /// Sends a request for a URL to its origin's port, and reads to the end of the connection.
    ///
    /// - Parameter fields: Fields other than `Host` and `Connection`, which are always sent.
    func exchange(
        _ url: String,
        method: String = "GET",
        fields: [String] = [],
        body: String? = nil
    ) throws -> RawResponse {
        let local = try server.url(for: URL(string: url) ?? folder.url).absoluteString
        let port = UInt16(URL(string: local)?.port ?? 0)
        let target = local.dropFirst("http://127.0.0.1:\(port)".count)
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return try RawResponse(
            RawClient.exchange(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""), with: port)
        )
    }
}
