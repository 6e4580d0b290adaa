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
    ///   - log: Called for each request.
    init(
        _ map: String,
        files: [String: String] = [:],
        unmatched: LocalSubstitutionCache.Unmatched = .fail,
        recorder: SubstitutionRecorder? = nil,
        ports: [String: UInt16] = [:],
        rewritesReferences: Bool = true,
        sendsCredentials: Bool = false,
        halfClosedSeconds: Double = 60,
        cache: LocalSubstitutionCache? = nil,
        log: (@Sendable (SubstitutionServer.LoggedRequest) -> Void)? = nil
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
            sendsCredentials: sendsCredentials,
            halfClosedSeconds: halfClosedSeconds,
            log: log
        )
    }

    /// Returns the local origin that serves an origin.
    func local(_ origin: String) throws -> String {
        let url = try server.url(for: URL(string: origin) ?? folder.url)
        return String(url.absoluteString.dropLast(url.path.count))
    }

    /// Returns the port that serves the origin of a URL.
    func port(_ url: String) throws -> UInt16 {
        UInt16(try server.url(for: URL(string: url) ?? folder.url).port ?? 0)
    }

    /// Returns what the names of an origin's cookies begin with at the client.
    func cookiePrefix(_ origin: String) -> String {
        origin.replacing("://", with: "+").replacing(":", with: "+") + "~"
    }

    /// Returns a request for a URL, as it's sent to the port that serves its origin.
    ///
    /// - Parameter fields: Fields other than `Host`, which is always sent.
    func request(
        _ url: String,
        method: String = "GET",
        fields: [String] = [],
        body: String? = nil
    ) throws -> String {
        let local = try server.url(for: URL(string: url) ?? folder.url).absoluteString
        let host = "127.0.0.1:\(try port(url))"
        let target = local.dropFirst("http://\(host)".count)
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// Connects to the port that serves a URL's origin, and sends a request for the URL.
    func connect(_ url: String, fields: [String] = []) throws -> RawClient {
        let client = try RawClient(port(url))
        try client.send(request(url, fields: fields))
        return client
    }

    /// Sends a request for a URL to the port that serves its origin, and reads to the end of the connection.
    ///
    /// - Parameter fields: Fields other than `Host` and `Connection`, which are always sent.
    func exchange(
        _ url: String,
        method: String = "GET",
        fields: [String] = [],
        body: String? = nil
    ) throws -> RawResponse {
        let request = try request(url, method: method, fields: ["Connection: close"] + fields, body: body)
        return try RawResponse(RawClient.exchange(request, with: port(url)))
    }
}
