import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects of a forwarded request", .sessions, .timeLimit(.minutes(5)))
struct RedirectTests {
    /// Returns a session with its own cookies that forwards everything.
    private func session() throws -> URLSession {
        let cache = try CacheFixture(#""http://127.0.0.1:*/*": { "file": "a.txt", "use": "whenOffline" }"#).cache()
        return try cache.makeSession()
    }

    @Test(
        "Redirects go where the Location says (RFC 3986 §5)",
        arguments: [
            ("/about", "/about/", "/about/"), ("/a/b", "/a%2Fb/c%20d/", "/a%2Fb/c%20d/"), ("/a/b", "c", "/a/c"),
            ("/a/b", "c/?q=%26#part", "/a/c/?q=%26"), ("/a/b/c", "../d/", "/a/d/"), ("/a/b", "?q=1", "/a/b?q=1"),
            ("/a/b", "//HOST/c/", "/c/"), ("/a/b", "http://HOST/c/", "/c/"), ("/a/b", "/", "/"),
        ]
    )
    func targets(_ path: String, _ location: String, _ target: String) async throws {
        let origin = try LoopbackServer { request in
            request.target == path
                ? .redirect(to: location.replacing("HOST", with: request.header("Host") ?? "")) : .text(request.target)
        }
        defer { origin.stop() }
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(from: origin.url(path))
        #expect(String(decoding: data, as: UTF8.self) == target)
        #expect(response.url?.absoluteString.hasPrefix(origin.url(target).absoluteString) == true)
    }

    @Test(
        "A redirect to a URL that isn't http or https is the response",
        arguments: ["file:///a", "ftp://127.0.0.1/a", "javascript:a", "data:,a", "mailto:a"]
    )
    func otherSchemes(_ location: String) async throws {
        let origin = try LoopbackServer { request in
            request.path == "/" ? .redirect(to: location) : .text("another resource")
        }
        defer { origin.stop() }
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(from: origin.url("/"))
        #expect((response as? HTTPURLResponse)?.statusCode == 302 && data.isEmpty)
    }

    @Test("Redirects carry only the cookies that the session then has for the target")
    func cookies() async throws {
        let origin = try LoopbackServer { request in
            func redirect(_ location: String, _ cookie: String) -> LoopbackServer.Answer {
                LoopbackServer.Answer(status: 302, headers: [("Location", location), ("Set-Cookie", cookie)])
            }
            return switch request.path {
            case "/login": redirect("/home", "user=ada; Path=/")
            case "/switch": redirect("/home", "user=eve; Path=/")
            case "/logout": redirect("/home", "user=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
            default: .text(request.header("Cookie") ?? "none")
            }
        }
        defer { origin.stop() }
        let session = try session()
        defer { session.finishTasksAndInvalidate() }
        for (path, cookie) in [("login", "user=ada"), ("switch", "user=eve"), ("logout", "none")] {
            let (data, _) = try await session.data(from: origin.url(path))
            #expect(String(decoding: data, as: UTF8.self) == cookie, "after \(path)")
        }
    }

    @Test("Redirects carry no cookies in a session that doesn't set any")
    func noCookies() async throws {
        let origin = try LoopbackServer { request in
            request.path == "/login"
                ? LoopbackServer.Answer(
                    status: 302,
                    headers: [("Location", "/home"), ("Set-Cookie", "user=ada; Path=/")]
                ) : .text(request.header("Cookie") ?? "none")
        }
        defer { origin.stop() }
        let cache = try CacheFixture(#""http://127.0.0.1:*/*": { "file": "a.txt", "use": "whenOffline" }"#).cache()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        let session = try cache.makeSession(configuration)
        defer { session.finishTasksAndInvalidate() }
        let (data, _) = try await session.data(from: origin.url("login"))
        #expect(String(decoding: data, as: UTF8.self) == "none")
    }
}
