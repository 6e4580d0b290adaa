import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording
@testable import MapWriting

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
        let reason: Complaint
        /// Whether the request goes through the recorder, although its response isn't kept.
        var isTaken = true
    }

    static let rows: [Row] = [
        Row(request: ["Authorization": "x"], reason: .requestHeader("Authorization"), isTaken: false),
        Row(request: ["proxy-authorization": "x"], reason: .requestHeader("Proxy-Authorization"), isTaken: false),
        Row(request: ["Cookie": "x"], reason: .requestHeader("Cookie")),
        Row(request: ["Range": "bytes=0-"], reason: .requestHeader("Range")),
        Row(url: "https://h/a?x=1&Access%5FToken=1", reason: .query(.init(name: "Access_Token")), isTaken: false),
        Row(url: "https://h/a;jsessionid=1", reason: .query(.init(name: "jsessionid")), isTaken: false),
        Row(url: "https://h/no/a", reason: .excluded(key: "https://h/no/*"), isTaken: false),
        Row(url: "https://h/mine", reason: .entry(key: "https://h/mine")),
        Row(status: 404, reason: .status(404)), Row(status: 206, reason: .part),
        Row(request: ["Range": "bytes=0-"], status: 206, reason: .part),
        Row(headers: ["Set-Cookie": "a=b"], reason: .responseHeader("Set-Cookie")),
        Row(headers: ["Vary": "Accept, *"], reason: .responseHeader("Vary: *")),
        Row(headers: ["Cache-Control": "max-age=1, No-Store"], reason: .cacheControl("no-store")),
        Row(headers: ["Cache-Control": "private=\"x\""], reason: .cacheControl("private")),
        Row(bytes: 51, reason: .tooLarge(bytes: 51, most: 50)),
    ]

    @Test("These responses aren't recorded, with reasons", arguments: rows)
    func notRecorded(_ row: Row) throws {
        let fixture = try RecorderFixture()
        try fixture.folder.write("substitutions.json", #"{"https://h/no/*": null, "https://h/mine": {"status": 404}}"#)
        let recorder = try fixture.open(limit: 1_000)
        let body = Data(count: row.bytes)
        let outcome = try recorder.record(row.url, body, row.headers, status: row.status, request: row.request)
        #expect(outcome.reason == row.reason.description)
        recorder.flush()
        #expect(fixture.files.isEmpty)
        // Ranges, requests with cookies, and a person's entries are still taken.
        let request = try RecorderFixture.request(row.url, row.request)
        #expect(recorder.takes(request) == row.isTaken)
    }

    @Test(
        "An event stream is recorded as one, also for the next recorder, and isn't held back for its copy",
        arguments: ["text/event-stream", "Text/Event-Stream; charset=utf-8"]
    )
    func eventStream(_ type: String) throws {
        let fixture = try RecorderFixture()
        let (url, body) = ("https://h/a", Data("data: ä\n\n".utf8))
        let headers = ["Content-Type": type, "ETag": "\"1\""]
        let recorder = try fixture.open()
        let plain = try RecorderFixture.request(url)
        let request = try RecorderFixture.request(url, ["Accept": "text/Event-Stream"])
        #expect(recorder.takes(request) && recorder.expectsStream(request) && !recorder.expectsStream(plain))
        #expect(try recorder.record(url, body, headers, request: ["Accept": "text/event-stream"]).isRecorded)
        #expect(
            recorder.hasAnswer(to: plain) && recorder.expectsStream(plain) && recorder.validators(for: plain) == nil
        )
        recorder.close()
        let charset = type.contains("charset") ? "" : #""charset": null, "#
        let entry = #""file": "h/a.sse", \#(charset)"secondsPerEvent": 0"#
        #expect(fixture.mapText.contains("\"https://h/a\": { \(entry) }"), "\(fixture.mapText)")
        let next = try fixture.open()
        defer { next.close() }
        #expect(try next.body(url) == "data: ä\n\n")
        #expect(try next.record(url, Data("data: b\n\n".utf8), headers).isRecorded, "it's the recorder's own")
    }

    @Test(
        "These names look like tokens",
        arguments: [
            "token", "access_token", "accessToken", "api_key", "apikey", "APIKey", "key", "auth", "userAuth", "sig",
            "Signature", "secret",
            "client-secret", "password", "session", "sessionId", "PHPSESSID", "sid", "JWT", "credential", "X-Amz-Date",
            "code", "token2",
            "mytoken", "filter[token]", "oauth_nonce", "key%49d", "SAMLResponse", "samlart", "client_assertion",
            "wresult",
            "hdnea", "apikeyv2", "api_key_v2", "ticket", "sign", "countryCode", "_wpnonce", "ASPSESSIONIDQQABCD",
            "Key-Pair-Id",
            "userpasswordhash", "userpass", "upass", "OAuthToken", "JSESSIONID", "csrfmiddlewaretoken",
        ]
    )
    func secretNames(name: String) throws {
        #expect(try SecretName.first(in: NormalizedURL("https://h/a?b=c&\(name)=x")) != nil)
    }

    @Test(
        "These names only resemble tokens",
        arguments: [
            "author", "keyboard", "signal", "signals", "monkey", "authors", "decode", "postcode", "page", "side",
            "passage", "tokenize", "authority", "passenger", "passport_country", "otpless", "pinned", "pinterest",
            "keyword",
            "signup", "max_tokens", "tokenType", "passwordless", "compass", "secretary", "assign", "sessions",
            "announce",
        ]
    )
    func harmlessNames(name: String) throws {
        #expect(try SecretName.first(in: NormalizedURL("https://h/a?\(name)=token")) == nil)
    }

    @Test(
        "A credential in a value is found, and the reason names it",
        arguments: [
            (
                "?next=/b%3Faccess_token%3Dx",
                "the URL's parameter “next” contains “access_token”, which may be a credential"
            ),
            ("?a=1&next=https%3A%2F%2Fh%2F%3Fto%3D%252Fb%253Fapi_key%253Dx", "“next” contains “api_key”"),
            ("?next=/b%2523code%253Dx", "“next” contains “code”"),
            ("?u=http://user:pw@h/", "the URL's parameter “u” contains a URL with a user name"),
            ("?u=%2F%2Fuser:pw@h", "“u” contains a URL with a user name"),
            ("?q=eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "the URL's parameter “q” has a value that looks like a credential"),
            ("?q=Bearer%20x", "“q” has a value"), ("?q=Token+0a1b", "“q” has a value"),
            ("?q=-----BEGIN%20PRIVATE%20KEY-----", "“q” has a value"),
            ("?q=ghp_0123456789abcdefghij", "“q” has a value"),
            ("?query=mutation%7Blogin(password:%22x%22)%7D", "“query” contains “password”"),
            ("?variables=%7B%22otp%22:123%7D", "“variables” contains “otp”"),
            ("?eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln", "an unnamed parameter of the URL looks like a credential"),
            ("/eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln", "the URL's path seems to contain a token"),
            ("/../bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/getMe", "the URL's path seems to contain a token"),
            (
                "/../file/bot123456%3AAAabcdefghijklmnopqrstuvwxyz0123456/p.jpg",
                "the URL's path seems to contain a token"
            ),
            ("/../services/T0ABCDEF1/B0ABCDEF2/aB3dE6gH9jK2mN5pQ8sT1vW4", "the URL's path seems to contain a token"),
            (
                "/../api/v10/webhooks/123456789012345678/aB3dE6gH9jK2mN5pQ8sT1vW4aB3dE6gH9jK2",
                "the URL's path seems to contain a token"
            ),
            ("/../(S(lit3py55t21z5v55vlm25s55))/page.aspx", "the URL's path seems to contain a token"),
            ("/../(X(1)F(lit3py55t21z5v55vlm25s55))/page.aspx", "the URL's path seems to contain a token"),
            ("?state=eyJ0b2tlbiI6InMzY3IzdCJ9", "“state” contains “token”"),
            ("?state=eyJ0b2tlbiI6InMzY3IzdCJ9%3D", "“state” contains “token”"),
            ("?s=eyJuZXh0IjoiL2E_Yj0-Pj4_Pz8iLCJhdXRoIjp7ImFjY2Vzc190b2tlbiI6IngifX0", "“s” contains “auth”"),
            ("?to=https://h/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/", "“to” has a value"),
            ("?tok=a1b2c3d4e5f6g7h8", "the URL's parameter “tok” may be a credential"),
            ("?user_sk=a1b2c3d4e5f6g7h8-_", "the URL's parameter “user_sk” may be a credential"),
            ("?u=%2Fb%3Fak%3Da1b2c3d4e5f6g7h8", "“u” contains “ak”"),
        ]
    )
    func secretValues(url: String, reason: String) throws {
        let found = try #require(SecretName.first(in: NormalizedURL("https://h/a\(url)")))
        #expect(found.description.contains(reason), "\(found)")
    }

    @Test(
        "These values only resemble credentials",
        arguments: [
            "?next=/b%3Fpage%3D2", "?mail=ada@h.example", "?u=https://h/@scope/a@2.js", "?u=https://h//a@2x.png",
            "?q=token+of+esteem", "?q=basic+income+now", "?v=1.2.3", "?file=eyJ.min.js", "?q=password", "?t=12:30",
            "?tok=en", "?sk=a1b2c3d4e5f6g7h", "?ak=aaaaaaaaaaaaaaaaaaaaaaaa", "?sk=1111111111111111111",
            "?sky=a1b2c3d4e5f6g7h8",
            "?state=eyJuZXh0IjoiL2EiLCJwYWdlIjoyfQ", "/../(S(a))/b", "/../a_(b_(c))", "/../bot1:a/",
            "/../bots/123456:AAabcdefghijklmnopqrstuvwxyz0123456", "/../services/Team/Blog/a",
            "/../services/T0ABCDEF1/news", "/../webhooks/1/2", "/../webhooks/123456789012345678/messages",
            "?q=%25%25%25", "?query=query($password:String!)%7Blogin(password:$password)%7B id %7D%7D", "?q=author:1",
        ]
    )
    func harmlessValues(url: String) throws {
        #expect(try SecretName.first(in: NormalizedURL("https://h/a\(url)")) == nil)
    }

    @Test(
        "A header with a credential is left out, and the outcome names it",
        arguments: [
            ("Link", "</a.js>; rel=preload; nonce=s3cr3t"), ("Link", "</b%3Faccess_token=s3cr3t>; rel=next"),
            ("SourceMap", "https://u:s3cr3t@h/a.map"), ("SourceMap", "/a.map?t=Bearer%20s3cr3t"),
            ("Content-Type", "text/plain; charset=utf-8; token=s3cr3t"),
        ]
    )
    func secretHeaders(name: String, value: String) throws {
        let fixture = try RecorderFixture()
        let recorder = try fixture.open()
        let headers = ["Content-Type": "text/plain; charset=utf-8", "X-Frame-Options": "DENY"].merging([name: value]) {
            $1
        }
        guard case .recorded(_, _, let note) = try recorder.record("https://h/a", Data("x".utf8), headers) else {
            return #expect(Bool(false), "it isn't kept")
        }
        #expect(note == "without the header “\(name)”, which may contain a credential")
        recorder.flush()
        let map = try String(contentsOf: fixture.folder.file("substitutions.json"), encoding: .utf8)
        #expect(map.contains("DENY") && !map.contains("s3cr3t") && !map.contains(name), "\(map)")
    }

    /// The names and values of headers, and whether they're recorded.
    static let readHeaders: [(name: String, value: String, isRecorded: Bool)] = [
        ("Access-Control-Expose-Headers", "Link, X-Total-Count", true), ("access-control-allow-origin", "*", true),
        ("Access-Control-Max-Age", "5", true), ("X-Total-Count", "40", true), ("Retry-After", "5", true),
        ("Content-Location", "/a.de", true), ("Content-MD5", "x", true), ("RateLimit", "\"a\";r=5", true),
        ("RateLimit-Policy", "\"a\";q=9", true), ("X-RateLimit-Remaining", "5", true), ("Sunset", "x", true),
        ("Deprecation", "@1", true), ("Link", "</2>; rel=next", true),
        ("Content-Security-Policy-Report-Only", "a", true),
        // Only the page that asked could read the response. The server sends these headers for each page.
        ("Access-Control-Allow-Origin", "https://i", false), ("Access-Control-Allow-Credentials", "true", false),
        ("Content-Length", "1", false), ("Content-Encoding", "x", false), ("ETag", "\"1\"", false),
        ("Age", "1", false), ("X-Session", "1", false), ("Connection", "close", false),
    ]

    @Test("The headers that clients read are recorded, as in a test's recording", arguments: readHeaders)
    func clientHeaders(name: String, value: String, isRecorded: Bool) throws {
        let fixture = try RecorderFixture()
        let recorder = try fixture.open()
        let headers = ["Content-Type": "text/plain; charset=utf-8", name: value]
        try recorder.record("https://h/a", Data("x".utf8), headers)
        recorder.close()
        let answer =
            try LocalSubstitutionCache(map: fixture.map())
            .cachedResponse(for: RecorderFixture.request("https://h/a"))?.response as? HTTPURLResponse
        #expect(fixture.mapText.contains("headers") == isRecorded)
        if isRecorded { #expect(answer?.value(forHTTPHeaderField: name) == value) }
    }

    @Test(
        "A header that shows another page is recorded",
        arguments: [
            "5; url=/next", "0;URL='https://h/b'", "30", "0, https://h/b", "5;/next", ".5; url=\"/a?b=c\"",
            "0; url=/a#b",
        ]
    )
    func refresh(value: String) throws {
        let fixture = try RecorderFixture()
        let recorder = try fixture.open()
        let headers = ["Content-Type": "text/html", "Refresh": value]
        #expect(try recorder.record("https://h/a", Data("x".utf8), headers).isRecorded)
        recorder.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        let answer = try cache.cachedResponse(for: RecorderFixture.request("https://h/a"))?.response as? HTTPURLResponse
        #expect(answer?.value(forHTTPHeaderField: "Refresh") == value)
    }

    @Test(
        "A redirect to a URL with a credential isn't recorded",
        arguments: ["/b?token=x", "/b?next=%2Fc%3Ftoken%3Dx", "//u:p@h/"]
    )
    func secretLocations(location: String) throws {
        let url = try #require(URL(string: "https://h/a"))
        let fields = ["Location": location]
        let response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: fields))
        let reason = RecordingRules.refusal(of: response, bytes: 0, most: 1, isBrowsed: true)
        #expect(reason?.description == "the response's header “Location” may contain a credential")
    }

    @Test(
        "Values that are meant to take long take time in proportion to their size",
        arguments: [
            "a", ":", "/", "//", "//a", "%25", "eyJ.", "eyJ", "a:1", "a:", "\"", "\\", "aB", "a=", "a=b&", "{\"a\":",
            "token of ",
            "-----BEGIN ", "a ", " :", "password",
        ]
    )
    func time(piece: String) {
        #expect(
            takesLinearTime(from: 500, of: { String(repeating: piece, count: $0) }) { text in
                _ = SecretName.isIn(text)
                _ = SecretName.isSecret(text)
            }
        )
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

    @Test(
        "A reason that names a value is told from its text",
        arguments: [(Complaint.status(500), "500"), (.method("PUT"), "PUT")]
    )
    func variedReason(_ reason: Complaint, _ value: String) {
        #expect(RecordingRules.VariedReason.all.compactMap { $0.value(in: reason.description) } == [value])
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
            try recorder.record(
                row.2,
                Data("body".utf8),
                row.1.merging(["Content-Type": "text/plain"]) { $1 },
                request: row.0
            )
        }
        for target in ["https://s/8?X-Amz-Signature=\(secret)", "https://u:\(secret)@s/8"] {
            try recorder.record("https://h/8", Data("x".utf8), [:], target: target)
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
