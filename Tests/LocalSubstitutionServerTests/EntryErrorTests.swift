import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Errors of entries through a server", .sessions, .timeLimit(.minutes(5)))
struct EntryErrorTests {
    private static let map = """
        {
          "$defaults": { "methods": ["*"] },
          "https://h.example/lost": { "error": "timedOut" },
          "https://h.example/loop": { "error": "httpTooManyRedirects", "delay": 0.05 },
          "https://h.example/stream": { "stream": [{ "error": "networkConnectionLost", "delay": 0.05 }] },
          "https://h.example/once": [{ "error": "networkConnectionLost", "times": 1 }, { "text": "ok" }],
          "https://h.example/warm": { "text": "warm" }
        }
        """

    private final class Log: Sendable {
        /// The status and the reason of each failure, and `nil` for each response of an entry.
        let requests = Guarded<[(status: Int?, reason: String)?]>([])
    }

    private let served: ServedMap
    private let log = Log()

    init() throws {
        served = try ServedMap(Self.map) { [log] request in
            let reason: String? = if case .failed(let reason) = request.source { reason } else { nil }
            log.requests.withLock { $0.append(reason.map { (request.status, $0) }) }
        }
    }

    /// Returns all bytes that the server sends before it closes the connection.
    private func answer(_ path: String, _ method: String = "GET", _ fields: [String] = []) throws -> String {
        let url = "https://h.example\(path)"
        return try RawClient.exchange(served.request(url, method: method, fields: fields), with: served.port(url))
    }

    @Test(
        "The client gets a line that isn't HTTP, and the connection is closed",
        arguments: [("/lost", "timedOut"), ("/loop", "httpTooManyRedirects"), ("/stream", "networkConnectionLost")],
        ["GET", "HEAD", "POST"]
    )
    func line(_ entry: (path: String, name: String), method: String) throws {
        #expect(try answer(entry.path, method) == "error: \(entry.name)\r\n")
        let failures = log.requests.withLock { $0 }
        #expect(failures.map { $0?.status } == [.some(nil)])
        #expect(failures.first??.reason.contains("makes this request fail with the error “\(entry.name)”") == true)
    }

    @Test(
        "A person who opens a page reads why it fails",
        arguments: [
            (["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], true), (["Accept: text/html, */*"], true),
            (["Sec-Fetch-Mode: cors", "Accept: text/html"], false), (["Sec-Fetch-Mode: no-cors"], false),
        ],
        ["/lost", "/stream"]
    )
    func navigation(_ row: (fields: [String], isText: Bool), path: String) throws {
        let answer = try answer(path, "GET", row.fields + ["Connection: close"])
        #expect(answer.hasPrefix(row.isText ? "HTTP/1.1 502 Bad Gateway\r\n" : "error: "))
        #expect(answer.contains("makes this request fail") == row.isText)
    }

    @Test("A request that no entry answers still gets a text")
    func unmatched() throws {
        let answer = try answer("/none", "GET", ["Sec-Fetch-Mode: cors", "Connection: close"])
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(answer.contains("No entry matches this request"))
    }

    @Test("URLSession fails once, and doesn't repeat the request on a connection that it uses again")
    func session() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let local = try #require(URL(string: served.local("https://h.example/")))
        let load = { (path: String) in
            String(decoding: try await session.data(from: local.appendingPathComponent(path)).0, as: UTF8.self)
        }
        #expect(try await load("warm") == "warm")
        await #expect(throws: URLError.self) { try await load("once") }
        #expect(try await load("once") == "ok")
        #expect(log.requests.withLock { $0.map { $0 == nil } } == [true, false, true])
    }
}
