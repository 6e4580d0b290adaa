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
        /// The verdict. A request that isn't substituted goes to the default cache, unless local data is ignored.
        let verdict: Explanation.Verdict
        var isStored = true
        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "an entry that names the URL", verdict: .substituted),
        Row(what: "no entry", url: "https://h/b", verdict: .noEntry),
        Row(what: "a URL with user info", url: "https://u:p@h/a", verdict: .notHTTP),
        Row(what: "null", entry: "null", verdict: .excluded),
        Row(what: "a disabled entry", entry: #"{ "file": "a.txt", "enabled": false }"#, verdict: .noEntry),
        Row(what: "a method that is not listed", method: "POST", verdict: .methodNotListed),
        Row(what: "HEAD, which GET implies", method: "HEAD", verdict: .substituted),
        Row(
            what: "HEAD, where GET is not listed",
            entry: #"{ "file": "a.txt", "methods": ["POST"] }"#,
            method: "HEAD",
            verdict: .methodNotListed
        ),
        Row(
            what: "GET, where only HEAD is listed",
            entry: #"{ "file": "a.txt", "methods": ["HEAD"] }"#,
            verdict: .methodNotListed
        ),
        Row(what: "reloading from the origin", policy: .reloadIgnoringLocalCacheData, verdict: .ignoresLocalData),
        Row(
            what: "reloading past all caches",
            policy: .reloadIgnoringLocalAndRemoteCacheData,
            verdict: .ignoresLocalData
        ),
        Row(what: "revalidating", policy: .reloadRevalidatingCacheData, verdict: .ignoresLocalData),
        Row(what: "cache else load", policy: .returnCacheDataElseLoad, verdict: .substituted),
        Row(what: "cache only", policy: .returnCacheDataDontLoad, verdict: .substituted),
        Row(
            what: "reloading with a method that is not listed",
            method: "POST",
            policy: .reloadIgnoringLocalCacheData,
            verdict: .methodNotListed
        ),
        Row(what: "use: always", entry: #"{ "file": "a.txt", "use": "always" }"#, verdict: .substituted),
        Row(what: "use: untilUpdated", entry: #"{ "file": "a.txt", "use": "untilUpdated" }"#, verdict: .substituted),
        Row(what: "use: whenOffline", entry: #"{ "file": "a.txt", "use": "whenOffline" }"#, verdict: .waitsForOffline),
        Row(
            what: "POST, listed, which no loader takes from a cache",
            entry: #"{ "file": "a.txt", "methods": ["POST"] }"#,
            method: "POST",
            verdict: .refusedByLoader
        ),
        Row(what: "a status that loaders take", entry: #"{ "status": 404 }"#, verdict: .substituted),
        Row(what: "a status that they don't", entry: #"{ "status": 500 }"#, verdict: .refusedByLoader),
        Row(what: "Vary", entry: with("Vary", "Accept"), verdict: .refusedByLoader),
        Row(what: "Vary in small letters", entry: with("vary", "Accept"), verdict: .refusedByLoader),
        Row(what: "no-store", entry: with("Cache-Control", "public, No-Store"), verdict: .refusedByLoader),
        Row(what: "no-cache", entry: with("Cache-Control", "no-cache"), verdict: .refusedByLoader),
        Row(what: "max-age=0", entry: with("Cache-Control", "max-age=0"), verdict: .refusedByLoader),
        Row(what: "max-age=0 in quotes", entry: with("Cache-Control", #"max-age=\"0\""#), verdict: .refusedByLoader),
        Row(what: "max-age=nan", entry: with("Cache-Control", "max-age=nan"), verdict: .substituted),
        Row(what: "max-age=-1e300", entry: with("Cache-Control", "max-age=-1e300"), verdict: .substituted),
        Row(
            what: "max-age of 10^18",
            entry: with("Cache-Control", "max-age=1000000000000000000"),
            verdict: .substituted
        ),
        Row(what: "max-age=60", entry: with("Cache-Control", "max-age=60"), verdict: .substituted),
        Row(what: "Expires, which our max-age outranks", entry: with("Expires", "0"), verdict: .substituted),
        Row(
            what: "Expires without a max-age",
            entry: #"{ "file": "a.txt", "headers": { "Expires": "0", "Cache-Control": "public" } }"#,
            verdict: .refusedByLoader
        ),
        Row(
            what: "Expires with a max-age of the entry",
            entry: #"{ "file": "a.txt", "headers": { "Expires": "0", "Cache-Control": "max-age=9" } }"#,
            verdict: .substituted
        ),
        Row(what: "a challenge", entry: with("WWW-Authenticate", "Basic"), verdict: .refusedByLoader),
        Row(what: "If-None-Match, which is ignored", headers: ["If-None-Match": "*"], verdict: .substituted),
        Row(
            what: "If-Modified-Since, which is ignored",
            headers: ["If-Modified-Since": "Sun, 06 Nov 2094 08:49:37 GMT"],
            verdict: .substituted
        ),
    ]

    #if !canImport(Darwin)
    static let linuxRows: [Row] = [
        Row(what: "Authorization", headers: ["Authorization": "Bearer x"], verdict: .refusedByLoader),
        Row(what: "Proxy-Authorization", headers: ["proxy-authorization": "Basic x"], verdict: .refusedByLoader),
        Row(what: "another scheme", url: "ftp://h/a", verdict: .notHTTP, isStored: false),
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
        #expect(cache.explain(request).verdict == row.verdict)
        #expect(cache.statistics.requests == 0, "explaining counts nothing")

        // The default cache has a response for every URL that it accepts, to show when it answers.
        let stored = try #require(defaultResponse(request))
        cache.storeCachedResponse(stored, for: request)
        let answer = cache.cachedResponse(for: request)
        switch row.verdict {
        case .substituted:
            #expect(answer?.header("Cache-Status")?.hasPrefix("LocalSubstitutionCache; hit") == true)
        case .ignoresLocalData:
            #expect(answer == nil)
        default:
            #expect(answer?.text == (row.isStored ? "stored" : nil))
        }
    }

    @Test("Reloading a URL that no entry names is left to the default cache")
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
