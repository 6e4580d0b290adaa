import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a recorder keeps", .threads)
struct RecordingRulesTests {
    struct Row: Sendable {
        var url = "https://h/a"
        var request: [String: String] = [:]
        var status = 200
        var headers: [String: String] = [:]
        var bytes = 10
        let reason: NotKept
    }

    static let rows: [Row] = [
        Row(request: ["Authorization": "x"], reason: .requestHeader("Authorization")),
        Row(request: ["proxy-authorization": "x"], reason: .requestHeader("Proxy-Authorization")),
        Row(request: ["Cookie": "x"], reason: .requestHeader("Cookie")),
        Row(request: ["Range": "bytes=0-"], reason: .requestHeader("Range")),
        Row(request: ["Accept": "text/Event-Stream"], reason: .eventStream),
        Row(url: "https://h/a?x=1&Access%5FToken=1", reason: .query("Access_Token")),
        Row(url: "https://h/a;jsessionid=1", reason: .query("jsessionid")),
        Row(url: "https://h/no/a", reason: .excluded(key: "https://h/no/*")),
        Row(url: "https://h/mine", reason: .entry(key: "https://h/mine")),
        Row(status: 404, reason: .status(404)), Row(status: 206, reason: .status(206)),
        Row(headers: ["Set-Cookie": "a=b"], reason: .responseHeader("Set-Cookie")),
        Row(headers: ["Vary": "Accept, *"], reason: .responseHeader("Vary: *")),
        Row(headers: ["Cache-Control": "max-age=1, No-Store"], reason: .cacheControl("no-store")),
        Row(headers: ["Cache-Control": "private=\"x\""], reason: .cacheControl("private")),
        Row(headers: ["Content-Type": "text/event-stream; x=y"], reason: .eventStream),
        Row(bytes: 51, reason: .tooLarge(bytes: 51, most: 50)),
    ]

    @Test("These responses aren't kept, with reasons", arguments: rows)
    func notKept(_ row: Row) throws {
        let fixture = try RecorderFixture()
        try fixture.folder.write("substitutions.json", #"{"https://h/no/*": null, "https://h/mine": {"status": 404}}"#)
        let recorder = try fixture.open(limit: 1_000)
        let body = Data(count: row.bytes)
        let outcome = try recorder.keep(row.url, body, row.headers, status: row.status, request: row.request)
        #expect(outcome.reason == row.reason)
        recorder.flush()
        #expect(fixture.files.isEmpty)
        // Ranges, requests with cookies, and a person's entries are still taken.
        let request = try RecorderFixture.request(row.url, row.request)
        let isRequests: Bool =
            switch row.reason {
            case .requestHeader(let name): !["Range", "Cookie"].contains(name)
            case .query, .excluded: true
            case .eventStream: row.headers.isEmpty
            default: false
            }
        #expect(recorder.takes(request) == !isRequests)
    }

    @Test(
        "These names look like tokens",
        arguments: [
            "token", "access_token", "accessToken", "api_key", "apikey", "APIKey", "key", "auth", "userAuth", "sig",
            "Signature", "secret",
            "client-secret", "password", "session", "sessionId", "PHPSESSID", "sid", "JWT", "credential", "X-Amz-Date",
            "code", "token2",
            "mytoken", "filter[token]", "oauth_nonce", "key%49d",
        ]
    )
    func secretNames(name: String) throws {
        #expect(try SecretName.first(in: NormalizedURL("https://h/a?b=c&\(name)=x")) != nil)
    }

    @Test(
        "These names only resemble tokens",
        arguments: [
            "author", "keyboard", "signal", "signals", "monkey", "authors", "decode", "postcode", "page", "side",
            "passage", "tokenize",
        ]
    )
    func harmlessNames(name: String) throws {
        #expect(try SecretName.first(in: NormalizedURL("https://h/a?\(name)=token")) == nil)
    }

    @Test("Other methods, bodies and URLs aren't recorded")
    func notTaken() throws {
        let recorder = try RecorderFixture().open()
        var post = try RecorderFixture.request("https://h/a")
        post.httpMethod = "POST"
        var body = try RecorderFixture.request("https://h/a")
        body.httpBody = Data([1])
        for request in [
            post, body, try RecorderFixture.request("https://u:p@h/a"), try RecorderFixture.request("ftp://h/a"),
        ] {
            #expect(!recorder.takes(request))
        }
    }

    @Test("No secret is in any byte of the folder")
    func secrets() throws {
        let fixture = try RecorderFixture()
        let recorder = try fixture.open()
        let secret = "s3cr3t-W0rd"
        for row in [
            (["Authorization": "Bearer \(secret)"], [:], "https://h/1"), (["Cookie": secret], [:], "https://h/2"),
            ([:], ["Set-Cookie": secret], "https://h/3"),
            ([:], [:], "https://h/4?token=\(secret)"),
            ([:], ["Link": "<https://h/?page=2&access_token=\(secret)>; rel=next"], "https://h/5"),
            (
                [:],
                [
                    "X-Api-Key": secret, "WWW-Authenticate": secret, "Location": secret,
                    "Content-Security-Policy": "report-uri https://u:\(secret)@h/",
                ], "https://h/6"
            ),
            ([:], [:], "https://u:\(secret)@h/7"),
        ] as [([String: String], [String: String], String)] {
            try recorder.keep(
                row.2,
                Data("body".utf8),
                row.1.merging(["Content-Type": "text/plain"]) { $1 },
                request: row.0
            )
        }
        for target in ["https://s/8?X-Amz-Signature=\(secret)", "https://u:\(secret)@s/8"] {
            try recorder.keep("https://h/8", Data("x".utf8), [:], target: target)
        }
        recorder.flush()
        #expect(fixture.files.count == 2)
        let walk = try #require(FileManager.default.enumerator(atPath: fixture.folder.url.path))
        for case let name as String in walk {
            let bytes = (try? Data(contentsOf: fixture.folder.file(name))) ?? Data()
            #expect(bytes.range(of: Data(secret.utf8)) == nil && !name.contains(secret), "\(name)")
        }
    }
}
