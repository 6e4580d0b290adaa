import Foundation
import LocalSubstitution
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a request gets", .sessions)
struct PlanTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let what: String
        var entry = #""a.txt""#
        var url = "https://h/a"
        var method = "GET"
        var headers: [String: String] = [:]
        var policy = URLRequest.CachePolicy.useProtocolCachePolicy
        /// What the reason begins with why no entry responds cache only; `nil` if one does. Otherwise, the default cache is
        /// asked, unless local data is ignored.
        var reason: String?
        var isStored = true
        var testDescription: String { what }
    }

    private static let ignored = "the request's cache policy ignores local data"

    static let rows: [Row] = [
        Row(what: "an entry that matches the URL"),
        Row(what: "no entry", url: "https://h/b", reason: "no entry matches it"),
        Row(what: "a URL with user info", url: "https://u:p@h/a", reason: "only http and https URLs"),
        Row(what: "null", entry: "null", reason: "the entry is null"),
        Row(
            what: "a disabled entry",
            entry: #"{ "file": "a.txt", "enabled": false }"#,
            reason: "every entry that matches its URL is disabled"
        ),
        Row(what: "a method that is not listed", method: "POST", reason: "the entry doesn't list the method"),
        Row(what: "HEAD, which GET implies", method: "HEAD"),
        Row(
            what: "HEAD, where GET is not listed",
            entry: #"{ "file": "a.txt", "methods": ["POST"] }"#,
            method: "HEAD",
            reason: "the entry doesn't list the method"
        ),
        Row(
            what: "GET, where only HEAD is listed",
            entry: #"{ "file": "a.txt", "methods": ["HEAD"] }"#,
            reason: "the entry doesn't list the method"
        ),
        Row(what: "reloading from the origin", policy: .reloadIgnoringLocalCacheData, reason: ignored),
        Row(
            what: "reloading past all caches",
            policy: .reloadIgnoringLocalAndRemoteCacheData,
            reason: ignored
        ),
        Row(what: "revalidating", policy: .reloadRevalidatingCacheData, reason: ignored),
        Row(what: "cache else load", policy: .returnCacheDataElseLoad),
        Row(what: "cache only", policy: .returnCacheDataDontLoad),
        Row(
            what: "reloading with a method that is not listed",
            method: "POST",
            policy: .reloadIgnoringLocalCacheData,
            reason: "the entry doesn't list the method"
        ),
        Row(what: "use: always", entry: #"{ "file": "a.txt", "use": "always" }"#),
        Row(what: "use: untilUpdated", entry: #"{ "file": "a.txt", "use": "untilUpdated" }"#),
        Row(
            what: "use: whenOffline",
            entry: #"{ "file": "a.txt", "use": "whenOffline" }"#,
            reason: "the entry is used only if the network fails"
        ),
        Row(
            what: "POST, listed, which no loader takes from a cache",
            entry: #"{ "file": "a.txt", "methods": ["POST"] }"#,
            method: "POST",
            reason: "URLSession never uses a cached response"
        ),
        Row(what: "a status that loaders take", entry: #"{ "status": 404 }"#),
        Row(
            what: "a status that they don't",
            entry: #"{ "status": 500 }"#,
            reason: "URLSession never uses a cached response"
        ),
        Row(what: "Vary", entry: with("Vary", "Accept"), reason: "URLSession never uses a cached response"),
        Row(
            what: "Vary in small letters",
            entry: with("vary", "Accept"),
            reason: "URLSession never uses a cached response"
        ),
        Row(
            what: "no-store",
            entry: with("Cache-Control", "public, No-Store"),
            reason: "the entry's Cache-Control says"
        ),
        Row(what: "no-cache", entry: with("Cache-Control", "no-cache"), reason: "the entry's Cache-Control says"),
        Row(what: "max-age=0", entry: with("Cache-Control", "max-age=0"), reason: "the entry's Cache-Control says"),
        Row(
            what: "max-age=0 in quotes",
            entry: with("Cache-Control", #"max-age=\"0\""#),
            reason: "the entry's Cache-Control says"
        ),
        Row(what: "max-age=nan", entry: with("Cache-Control", "max-age=nan")),
        Row(what: "max-age=-1e300", entry: with("Cache-Control", "max-age=-1e300")),
        Row(
            what: "max-age of 10^18",
            entry: with("Cache-Control", "max-age=1000000000000000000")
        ),
        Row(what: "max-age=60", entry: with("Cache-Control", "max-age=60")),
        Row(what: "Expires, which our max-age outranks", entry: with("Expires", "0")),
        Row(
            what: "Expires without a max-age",
            entry: #"{ "file": "a.txt", "headers": { "Expires": "0", "Cache-Control": "public" } }"#,
            reason: "URLSession treats every “Expires” date as past"
        ),
        Row(
            what: "Expires with a max-age of the entry",
            entry: #"{ "file": "a.txt", "headers": { "Expires": "0", "Cache-Control": "max-age=9" } }"#
        ),
        Row(
            what: "a challenge",
            entry: with("WWW-Authenticate", "Basic"),
            reason: "URLSession never uses a cached response"
        ),
        Row(what: "If-None-Match, which is ignored", headers: ["If-None-Match": "*"]),
        Row(
            what: "If-Modified-Since, which is ignored",
            headers: ["If-Modified-Since": "Sun, 06 Nov 2094 08:49:37 GMT"]
        ),
    ]

    #if !canImport(Darwin)
    static let linuxRows: [Row] = [
        Row(
            what: "Authorization",
            headers: ["Authorization": "Bearer x"],
            reason: "URLSession never uses a cached response"
        ),
        Row(
            what: "Proxy-Authorization",
            headers: ["proxy-authorization": "Basic x"],
            reason: "URLSession never uses a cached response"
        ),
        Row(what: "another scheme", url: "ftp://h/a", reason: "only http and https URLs", isStored: false),
    ]
    #else
    static let linuxRows: [Row] = []
    #endif

    private static func with(_ name: String, _ value: String) -> String {
        #"{ "file": "a.txt", "headers": { "\#(name)": "\#(value)" } }"#
    }

    @Test("Explanations and answers follow every rule of the decision", arguments: rows + linuxRows)
    func decides(_ row: Row) throws {
        let fixture = try CacheFixture(#""https://h/a": \#(row.entry)"#)
        let cache = try fixture.cache()
        let request = try request(row.url, method: row.method, headers: row.headers, policy: row.policy)
        let judgement = cache.explain(request).cacheOnly
        #expect(judgement.outcome == (row.reason == nil ? .matched : .unmatched))
        if let reason = row.reason { #expect(judgement.reason.hasPrefix(reason)) }
        #expect(cache.statistics.requests == 0, "explaining counts nothing")

        // The default cache has a response for every URL that it accepts, to show when it answers.
        let stored = try #require(defaultResponse(request))
        cache.storeCachedResponse(stored, for: request)
        let answer = cache.cachedResponse(for: request)
        switch row.reason {
        case nil:
            #expect(answer?.header("Cache-Status")?.hasPrefix("LocalSubstitutionCache; hit") == true)
        case Self.ignored:
            #expect(answer == nil)
        default:
            #expect(answer?.text == (row.isStored ? "stored" : nil))
        }
    }

    @Test("Reloading a URL that no entry matches is left to the default cache")
    func reloadOfOthers() throws {
        let cache = try CacheFixture(#""https://h/a": "a.txt""#).cache()
        let request = try request("https://h/other", policy: .reloadIgnoringLocalCacheData)
        cache.storeCachedResponse(try #require(defaultResponse(request)), for: request)
        #expect(cache.cachedResponse(for: request)?.text == "stored")
    }

    private func defaultResponse(_ request: URLRequest) -> CachedURLResponse? {
        request.url.flatMap { HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: nil) }
            .map {
                CachedURLResponse(
                    response: $0,
                    data: Data("stored".utf8),
                    userInfo: nil,
                    storagePolicy: .allowedInMemoryOnly
                )
            }
    }
}
