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

@Suite("A server's recordings", .threads, .timeLimit(.minutes(5)))
struct RecordingTests {
    @Test("A server that was stopped has released its recorder")
    func stopped() throws {
        let folder = try TemporaryFolder()
        let map = try SubstitutionMap([:], resources: folder.url)
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let server = try SubstitutionServer(cache: LocalSubstitutionCache(map: map), recorder: consume recorder)
        server.stop()
        try SubstitutionRecorder(folder: folder.url).close()
        withExtendedLifetime(server) {}
    }

    @Test("What shows a site offline is kept: redirects, 404s, event streams, responses to requests with cookies")
    func site() throws {
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/":
                return LoopbackServer.Answer(
                    headers: [
                        ("Set-Cookie", "session=secret"), ("Cache-Control", "private, no-store"),
                        ("Content-Type", "text/html"),
                    ],
                    body: Data("<p>page".utf8)
                )
            case "/old": return .redirect(to: "/new?x=1", status: 301)
            case "/new": return .text("new for \(request.header("Cookie") ?? "anyone")")
            case "/video":
                guard request.header("Range") != nil else { return .ok(Data("0123456789".utf8), type: "video/mp4") }
                let isWhole = request.header("Range") == "bytes=0-"
                return LoopbackServer.Answer(
                    status: 206,
                    headers: [
                        ("Content-Type", "video/mp4"), ("Content-Range", isWhole ? "bytes 0-9/10" : "bytes 2-4/10"),
                    ],
                    body: Data((isWhole ? "0123456789" : "234").utf8)
                )
            case "/plain": return .ok(Data("plain".utf8))
            case "/part":
                return LoopbackServer.Answer(
                    status: 206,
                    headers: [("Content-Range", "bytes 0-2/10")],
                    body: Data("012".utf8)
                )
            case "/events": return .text("data: a\n\ndata: b\n\n", type: "text/event-stream")
            case "/error": return .status(500)
            case "/token": return .redirect(to: "/new?access_token=0123456789abcdef")
            default: return LoopbackServer.Answer(status: 404, body: Data("none".utf8))
            }
        }
        defer { origin.stop() }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let served = try ServedMap("{}", unmatched: .load, recorder: recorder)
        let cookie = "Cookie: \(served.cookiePrefix(name))session=secret"
        _ = try served.exchange(name + "/")
        #expect(try served.exchange(name + "/old")["Location"] == "/new?x=1")
        #expect(try served.exchange(name + "/new?x=1", fields: [cookie]).body == "new for session=secret")
        #expect(try served.exchange(name + "/video", fields: ["Range: bytes=0-"]).status == 206)
        #expect(try served.exchange(name + "/plain", fields: ["Range: bytes=0-"]).body == "plain")
        _ = try served.exchange(name + "/events")
        for path in ["/part", "/error", "/token"] { _ = try served.exchange(name + path, fields: ["Range: bytes=0-"]) }
        #expect(try served.exchange(name + "/none").status == 404)
        _ = try served.exchange(name + "/new?p=1", method: "POST", body: "x")
        served.server.stop()
        recorder.close()

        let cache = try LocalSubstitutionCache(contentsOf: recorder.mapFile)
        let offline = try ServedMap("{}", unmatched: .fail, cache: cache)
        let page = try offline.exchange(name + "/")
        #expect(page.body == "<p>page")
        #expect(page["Set-Cookie"] == nil)
        let old = try offline.exchange(name + "/old")
        #expect(old.status == 301)
        #expect(old["Location"] == "/new?x=1")
        #expect(try offline.exchange(name + "/new?x=1").body == "new for session=secret")
        let video = try offline.exchange(name + "/video", fields: ["Range: bytes=2-4"])
        #expect(video.status == 206)
        #expect(video.body == "234")
        #expect(try offline.exchange(name + "/plain").body == "plain")
        #expect(try offline.exchange(name + "/events").body == "data: a\n\ndata: b\n\n")
        #expect(try offline.exchange(name + "/none").status == 404)
        for path in ["/part", "/error", "/token", "/new?p=1"] {
            #expect(try offline.exchange(name + path).status == 502)
        }
        let map = try String(contentsOf: recorder.mapFile, encoding: .utf8)
        #expect(!map.contains("secret") && !map.contains("token"), "no credential is kept")
        #expect(map.contains(#""secondsPerEvent": 0"#), "\(map)")
    }

    @Test("Every served page may read a recorded response that its server let the asking page read, and its headers")
    func access() throws {
        let origin = try LoopbackServer { request in
            LoopbackServer.Answer(
                headers: [
                    ("Content-Type", "application/json"), ("X-Total-Count", "40"),
                    ("Access-Control-Allow-Origin", request.header("Origin") ?? "*"),
                    ("Access-Control-Allow-Credentials", "true"), ("Access-Control-Expose-Headers", "X-Total-Count"),
                ],
                body: Data("{}".utf8)
            )
        }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let served = try ServedMap("{}", unmatched: .load, recorder: recorder)
        _ = try served.exchange(name + "/", fields: ["Origin: \(served.local("https://h.example"))"])
        served.server.stop()
        origin.stop()
        recorder.close()
        let offline = try ServedMap("{}", unmatched: .fail, cache: LocalSubstitutionCache(contentsOf: recorder.mapFile))
        for page in ["https://h.example", "https://i.example"] {
            let local = try offline.local(page)
            let response = try offline.exchange(name + "/", fields: ["Origin: \(local)"])
            #expect(response.all("Access-Control-Allow-Origin") == [local])
            #expect(response.all("Access-Control-Allow-Credentials") == ["true"])
            #expect(response.all("Access-Control-Expose-Headers") == ["X-Total-Count"])
            #expect(response["X-Total-Count"] == "40")
        }
    }

    @Test("An app's session follows a recorded redirect")
    func followed() async throws {
        let origin = try LoopbackServer(routes: ["/old": .redirect(to: "/new"), "/new": .text("new")])
        let name = String(origin.baseURL.absoluteString.dropLast())
        let folder = try TemporaryFolder()
        let recorder = try SubstitutionRecorder(folder: folder.url)
        let served = try ServedMap("{}", unmatched: .load, recorder: recorder)
        for path in ["/old", "/new"] { _ = try served.exchange(name + path) }
        served.server.stop()
        origin.stop()
        let session = try served.cache.makeSession(recorder: recorder)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(from: origin.url("/old"))
        #expect(String(decoding: data, as: UTF8.self) == "new")
    }
}
