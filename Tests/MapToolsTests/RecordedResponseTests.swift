import Foundation
import LocalSubstitution
import MapWriting
import TestSupport
import Testing

@Suite("A response that a closure may change before it's recorded", .values)
struct RecordedResponseTests {
    private static let headers = [
        "Content-Type": "text/html", "Content-MD5": "m", "Digest": "d", "Content-Digest": "c", "Repr-Digest": "r",
        "ETag": "\"1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Content-Language": "de",
        "Access-Control-Allow-Credentials": "true",
    ]

    private static func response(_ status: Int = 200, headers: [String: String] = headers) throws -> RecordedResponse {
        RecordedResponse(
            url: try #require(URL(string: "https://h/a")),
            status: status,
            headers: headers,
            body: Data("body".utf8)
        )
    }

    @Test("A closure that changes nothing changes nothing")
    func unchanged() throws {
        var response = try Self.response()
        #expect(try response.redact { _ in } == [])
        #expect(response.headers == Self.headers && response.status == 200 && response.body == Data("body".utf8))
    }

    @Test("With another body, headers that describe the server's bytes go, unless the closure sets them")
    func otherBody() throws {
        var response = try Self.response()
        let leftOut = try response.redact {
            $0.body = Data("other".utf8)
            $0.headers["Digest"] = "new"
            $0.headers["etag"] = "\"2\""
        }
        let names = ["Content-Digest", "Content-MD5", "ETag", "Last-Modified", "Repr-Digest"]
        #expect(leftOut == names.map { "\($0) (it describes the body that the server sent)" })
        #expect(
            response.headers == [
                "Content-Type": "text/html", "Digest": "new", "etag": "\"2\"", "Content-Language": "de",
                "Access-Control-Allow-Credentials": "true",
            ]
        )
    }

    @Test("Without a body, headers that describe it go")
    func noBody() throws {
        var response = try Self.response()
        _ = try response.redact { $0.status = 204 }
        #expect(response.body.isEmpty && response.status == 204)
        #expect(response.headers["Content-MD5"] == nil && response.headers["Content-Language"] == "de")
    }

    @Test(
        "A header that it sets is written, unless it may be a credential or can't be in a map",
        arguments: [
            ("X-Recorded", "yes", nil), ("Content-Language", "fr", nil),
            ("Access-Control-Allow-Credentials", "false", nil),
            ("Content-Type", "text/plain; charset=utf-8", nil), ("X-Note", "", nil),
            ("Set-Cookie", "a=b", "it may be a credential"), ("set-cookie", "a=b", "it may be a credential"),
            ("Authorization", "x", "it may be a credential"), ("X-Api-Key", "x", "it may be a credential"),
            ("X-Note", "Bearer s3cr3t", "it may be a credential"),
            ("Content-Language", "https://h/?access_token=s3cr3t", "it may be a credential"),
            ("Content-Length", "4", "a map can't set it"), ("content-encoding", "gzip", "a map can't set it"),
            ("Transfer-Encoding", "chunked", "a map can't set it"), ("X Note", "x", "a map can't set it"),
            ("X-Note", "a\r\nSet-Cookie: b", "a map can't set it"),
        ]
    )
    func headers(name: String, value: String, reason: String?) throws {
        var response = try Self.response()
        let leftOut = try response.redact { $0.headers[name] = value }
        #expect(leftOut == (reason.map { ["\(name) (\($0))"] } ?? []))
        #expect(response.headers[name] == (reason == nil ? value : nil))
        #expect(response.headers["Content-MD5"] == "m")
    }

    @Test("A header that it removes or spells differently isn't written twice")
    func removed() throws {
        var response = try Self.response()
        let leftOut = try response.redact {
            $0.headers["Digest"] = nil
            $0.headers["content-type"] = "text/plain"
        }
        #expect(leftOut == [])
        #expect(response.headers["Digest"] == nil && response.headers["Content-Type"] == nil)
        #expect(response.headers["content-type"] == "text/plain")
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let reason: Complaint
        let redact: RecordedResponse.Redaction

        var testDescription: String { reason.description }

        static let all = [
            Refused(reason: .excludedByClosure) { $0.isExcluded = true },
            Refused(reason: .status(0)) { $0.status = 0 },
            Refused(reason: .status(199)) { $0.status = 199 },
            Refused(reason: .status(600)) { $0.status = 600 },
            Refused(reason: .secretHeader("Location")) { response in
                response.status = 302
                response.headers["Location"] = "https://h/?access_token=s3cr3t"
            },
        ]
    }

    @Test(
        "What it excludes, an impossible status, and a redirect without its target aren't written",
        arguments: Refused.all
    )
    func refused(_ row: Refused) throws {
        var response = try Self.response()
        #expect(throws: row.reason) { try response.redact(row.redact) }
    }
}
