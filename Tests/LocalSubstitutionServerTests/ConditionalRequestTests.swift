import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Conditional requests", .sessions, .timeLimit(.minutes(5)))
struct ConditionalRequestTests {
    private struct Response {
        let head: HTTPURLResponse?
        let bytes: Int

        var status: Int? { head?.statusCode }
        subscript(_ name: String) -> String? { head?.value(forHTTPHeaderField: name) }
    }

    private static let map = #"""
        {
          "https://h.example/file": "a.txt",
          "https://h.example/large": "large.bin",
          "https://h.example/text": { "text": "text", "headers": { "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "X-Own": "x" } },
          "https://h.example/own": { "text": "own", "headers": { "etag": "W/\"1\"" } },
          "https://h.example/slow": { "text": "slow", "delay": 0.01, "bytesPerSecond": 100000 },
          "https://h.example/post": { "text": "post", "methods": ["GET", "POST"] },
          "https://h.example/page": { "text": "<p>", "mimeType": "text/html", "headers": { "ETag": "\"1\"" } },
          "https://h.example/gone": { "text": "gone", "status": 410, "headers": { "ETag": "\"1\"" } },
          "https://h.example/stream": { "stream": ["a"], "headers": { "ETag": "\"1\"" } }
        }
        """#

    /// Sends a request by a session, by `answer(to:)` and to the server.
    private func responses(
        _ served: ServedMap,
        _ path: String,
        _ method: String = "GET",
        _ headers: [String: String] = [:]
    ) async throws -> [Response] {
        let url = try #require(URL(string: "https://h.example/\(path)"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        var local = request
        local.url = try served.server.url(for: url)
        let (session, client) = (try served.cache.makeSession(unmatched: .fail), URLSession(configuration: .ephemeral))
        defer {
            session.finishTasksAndInvalidate()
            client.finishTasksAndInvalidate()
        }
        let answer = try #require(try await served.cache.answer(to: request))
        return [try await session.data(for: request), (answer.0, answer.1), try await client.data(for: local)].map {
            Response(head: $1 as? HTTPURLResponse, bytes: $0.count)
        }
    }

    private func served() throws -> ServedMap {
        try ServedMap(Self.map, files: ["a.txt": "file", "large.bin": String(repeating: "x", count: 1 << 20)])
    }

    @Test(
        "A session, answer(to:) and the server give 304 or 412 instead of the response, without a body",
        arguments: ["file", "large", "text", "own", "slow", "post"],
        ["GET", "HEAD"]
    )
    func preconditions(_ path: String, _ method: String) async throws {
        let served = try served()
        let plain = try await responses(served, path, method)
        let tag = try #require(plain.first?["ETag"])
        #expect(plain.map(\.status) == [200, 200, 200])
        #expect(plain.allSatisfy { $0["ETag"] == tag && ($0.bytes == 0) == (method == "HEAD") })
        let isWeak = tag.hasPrefix("W/")
        for (headers, status) in [
            (["If-None-Match": tag], 304), (["If-None-Match": "\"other\", \(tag)", "Range": "bytes=0-0"], 304),
            (["If-None-Match": "*"], 304), (["If-None-Match": "\"other\""], 200), (["If-Match": "\"other\""], 412),
            (["If-Match": tag], isWeak ? 412 : 200), (["If-Match": "*"], 200),
            (["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"], path == "text" ? 304 : 200),
            (["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"], path == "text" ? 412 : 200),
        ] {
            let found = try await responses(served, path, method, headers)
            #expect(found.map(\.status) == [status, status, status], "\(headers)")
            guard status != 200 else { continue }
            for response in found {
                #expect(response.bytes == 0)
                #expect(response["ETag"] == tag)
                #expect(response["X-Own"] == (path == "text" ? "x" : nil))
                #expect(response["Content-Type"] == nil)
                #expect(response["Content-Length"] == (status == 412 ? "0" : nil))
            }
        }
        #expect(try await responses(served, path, method).map(\.bytes) == plain.map(\.bytes))
    }

    @Test("They're ignored for other methods and statuses, for streams and for misspelled tags")
    func ignored() async throws {
        let served = try served()
        for (path, method, headers, status) in [
            ("post", "POST", ["If-Match": "\"other\""], 200), ("gone", "GET", ["If-None-Match": "\"1\""], 410),
            ("stream", "GET", ["If-None-Match": "\"1\""], 200), ("page", "GET", ["If-None-Match": "1"], 200),
        ] {
            let found = try await responses(served, path, method, headers)
            #expect(found.map(\.status) == [status, status, status], "\(path)")
            #expect(found.allSatisfy { $0.bytes > 0 })
        }
        // The cache alone sends what URLSession accepts from a cache.
        var request = URLRequest(url: try #require(URL(string: "https://h.example/text")))
        request.setValue("*", forHTTPHeaderField: "If-None-Match")
        #expect(served.cache.cachedResponse(for: request)?.data == Data("text".utf8))
    }

    @Test("A connection goes on after a 304 and a 412")
    func kept() throws {
        let served = try served()
        let client = try served.connect("https://h.example/large", fields: ["If-None-Match: *"])
        #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 304 "))
        try client.send(served.request("https://h.example/large", fields: ["If-Match: \"1\""]))
        #expect(try client.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 412 "))
        try client.send(served.request("https://h.example/text", fields: ["Connection: close"]))
        #expect(try RawResponse(client.readToEnd()).body == "text")
    }

    @Test("A recording meets them when the network fails, and the network gets those of the client when it works")
    func recorded() async throws {
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == nil
                ? LoopbackServer.Answer(headers: [("ETag", "\"origin\"")], body: Data("recorded".utf8)) : .status(304)
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let name = origin.url("/a").absoluteString
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let online = try ServedMap("{}", unmatched: .load, recorder: recorder)
        #expect(try online.exchange(name).body == "recorded")
        #expect(try online.exchange(name, fields: ["If-None-Match: \"any\""]).status == 304)
        #expect(origin.requests.map { $0.header("If-None-Match") } == [nil, "\"any\""])
        let offline = try ServedMap("{}", recorder: recorder)
        let kept = try offline.exchange(name)
        let tag = try #require(kept["ETag"])
        #expect(try offline.exchange(name, fields: ["If-None-Match: \(tag)"]).status == 304)
        #expect(try offline.exchange(name, fields: ["If-None-Match: \"origin\""]).body == "recorded")
        #expect(try offline.exchange(name, fields: ["If-Match: \"origin\""]).status == 412)
        online.server.stop()
        offline.server.stop()
        recorder.close()
    }
}
