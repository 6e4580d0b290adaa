import Foundation
import LocalSubstitution
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Explanations", .sessions)
struct ExplanationTests {
    private let cache: LocalSubstitutionCache
    private let fixture: CacheFixture

    init() throws {
        fixture = try CacheFixture(
            """
            "https://h/a.txt": "a.txt",
            "https://h/*.txt": "*.txt",
            "https://h/*": "a.txt",
            "https://h/off.txt": { "file": "a.txt", "enabled": false },
            "https://other:8443/Path/x?v=1": "a.txt",
            "https://status/x": { "status": 404 },
            "https://typed/x": { "file": "a.txt", "mimeType": "text/css" }
            """
        )
        cache = try fixture.cache()
    }

    @Test("The winner's line, the shadowed entries, the file and the source of its type")
    func winner() throws {
        let explanation = try cache.explain(request("https://h/a.txt"))
        #expect(explanation.attached.outcome == .matched)
        #expect(explanation.cacheOnly == explanation.attached)
        #expect(explanation.winner?.key == "https://h/a.txt")
        #expect(explanation.winner?.line == 1)
        #expect(explanation.shadowed.map(\.key) == ["https://h/*.txt", "https://h/*"])
        #expect(explanation.file?.lastPathComponent == "a.txt")
        #expect(explanation.contentType == "text/plain; charset=utf-8")
        #expect(explanation.contentTypeSource == "from the file's extension “txt”")
        #expect(explanation.cacheOnly.servedBy == "the entry's file")
        #expect(
            explanation.description.split(separator: "\n").map { $0.prefix(16) } == [
                "GET https://h/a.", "  attached:     ", "  cache only:   ", "  entry:        ", "  file:         ",
                "  MIME type:    ", "  shadowed:     ", "  shadowed:     ",
            ]
        )
    }

    @Test("The entries that were skipped, with reasons")
    func skipped() throws {
        let disabled = try cache.explain(request("https://h/off.txt"))
        #expect(disabled.winner?.key == "https://h/*")
        #expect(disabled.skipped.map(\.reason) == ["it's disabled", "the resources folder has no file “off.txt”"])
    }

    static let namesNotAllowed: [(key: String, file: String, url: String, remark: String)] = [
        (
            "https://h/app*", "app/*", "https://h/app/style.css",
            "the file name “app//style.css” has an empty folder name"
        ),
        ("https://h/*", "*", "https://h//style.css", "the file name “/style.css” has an empty folder name"),
        (
            "https://h/app/*", "app/*", "https://h/app/.env",
            "the file name “app/.env” has a segment that begins with a period, and hidden files are never served"
        ),
        (
            "https://h/*", "*", "https://h/a%2Fb",
            "“a%2Fb” in the URL has an encoded slash or backslash, which could lead to another folder"
        ),
        (
            "https://h/*", "*", "https://h/a%5cb",
            "“a%5Cb” in the URL has an encoded slash or backslash, which could lead to another folder"
        ),
        ("https://h/*", "*", "https://h/a%0Ab", "“a%0Ab” in the URL has a control character"),
        ("https://h/*", "*", "https://h/%FF", "“%FF” in the URL isn't UTF-8 when decoded"),
    ]

    @Test("A pattern that can't make a file name from the URL, with the reason", arguments: namesNotAllowed)
    func notAllowed(key: String, file: String, url: String, remark: String) throws {
        let fixture = try CacheFixture(#""\#(key)": "\#(file)""#, files: ["app/a.txt": "local"])
        let explanation = try fixture.cache().explain(request(url))
        #expect(explanation.attached.outcome == .unmatched)
        #expect(explanation.skipped.map(\.reason) == [remark])
        #expect(explanation.nearMisses.isEmpty)
    }

    @Test("Such a pattern isn't called shadowed, or a near miss for another reason")
    func notAllowedElsewhere() throws {
        let fixture = try CacheFixture(#""https://h/*": "*", "https://h/a/.x": "a.txt""#)
        let cache = try fixture.cache()
        #expect(try cache.explain(request("https://h/a/.x")).shadowed.isEmpty)
        #expect(try cache.explain(request("http://h/b/.x")).nearMisses.isEmpty)
    }

    @Test("What responds if no entry does, with the reason")
    func instead() throws {
        let reload = try cache.explain(request("https://h/a.txt", policy: .reloadIgnoringLocalCacheData))
        #expect(reload.attached.outcome == .matched)
        #expect(reload.cacheOnly.outcome == .unmatched)
        #expect(reload.cacheOnly.servedBy == "the network")
        #expect(reload.cacheOnly.reason == "the request's cache policy ignores local data")
        let post = try cache.explain(request("https://h/a.txt", method: "POST"))
        #expect(post.attached == post.cacheOnly)
        #expect(post.attached.description == "unmatched: the network, because the entry doesn't list the method POST")
    }

    @Test("A response of the default cache, unless URLSession wouldn't use it")
    func stored() throws {
        let stored = try request("https://elsewhere/x")
        let url = try #require(stored.url)
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        cache.storeCachedResponse(CachedURLResponse(response: head, data: Data()), for: stored)
        let found = cache.explain(stored)
        #expect(found.attached == found.cacheOnly)
        #expect(found.attached.outcome == .defaultCache)
        #expect(
            found.attached.description
                == "default cache: its response or, if that's stale, the network, because no entry matches it"
        )
        for other in [
            try request("https://elsewhere/x", method: "POST"),
            try request("https://elsewhere/x", policy: .reloadIgnoringLocalCacheData),
            try request("https://elsewhere/y"),
        ] { #expect(cache.explain(other).cacheOnly.outcome == .unmatched) }
        #expect(cache.statistics.requests == 0, "explaining counts nothing")
    }

    @Test("A file that can't be read")
    func unreadable() throws {
        try FileManager.default.removeItem(at: fixture.file("a.txt"))
        try FileManager.default.createDirectory(at: fixture.file("a.txt"), withIntermediateDirectories: false)
        let explanation = try cache.explain(request("https://typed/x"))
        let reason = "the file is a folder, not a regular file"
        #expect(explanation.attached.outcome == .failed)
        #expect(explanation.attached.servedBy == nil)
        #expect(explanation.attached.description == "failed, because \(reason)")
        #expect(explanation.cacheOnly.description == "unmatched: the network, because \(reason)")
    }

    @Test("A status and a type that an entry sets")
    func fields() throws {
        #expect(try cache.explain(request("https://status/x")).status == 404)
        #expect(try cache.explain(request("https://typed/x")).contentTypeSource == "set by the entry")
    }

    static let nearMisses: [(String, [SubstitutionMap.NearMiss.Difference])] = [
        ("http://other:8443/Path/x?v=1", [.scheme]),
        ("https://other/Path/x?v=1", [.port]),
        ("https://other:8443/Path/x", [.query]),
        ("https://other:8443/Path/x?v=2", [.query]),
        ("https://other:8443/Path/x/?v=1", [.trailingSlash]),
        ("https://other:8443/path/X?v=1", [.letterCase]),
        ("https://other:8443/Path/x?V=1", [.letterCase]),
        ("http://other/path/x/", [.scheme, .port, .query, .trailingSlash, .letterCase]),
    ]

    @Test("The keys that almost match, with their differences", arguments: nearMisses)
    func nearMiss(_ url: String, _ differences: [SubstitutionMap.NearMiss.Difference]) throws {
        let explanation = try cache.explain(request(url))
        #expect(explanation.attached.outcome == .unmatched)
        #expect(
            explanation.nearMisses == [explanation.nearMisses.first { $0.differences == differences }].compactMap { $0 }
        )
        #expect(explanation.nearMisses.first?.key == "https://other:8443/Path/x?v=1")
    }

    static let nearPatterns: [(key: String, url: String, differences: [SubstitutionMap.NearMiss.Difference])] = [
        ("https://h/*", "http://h/a", [.scheme]),
        ("https://h:8443/p/*", "https://h/p/a.txt", [.port]),
        ("https://h/p/*", "https://h:8443/p/a.txt", [.port]),
        ("https://h/*.png", "https://h/a.png?v=1", [.query]),
        ("https://h/q/*?v=1", "https://h/q/a.txt", [.query]),
        ("https://h/q/*?v=1", "https://h/q/a.txt?v=2", [.query]),
        ("https://h/*/x", "https://h/a/x/", [.trailingSlash]),
        ("https://h/*/x/", "https://h/a/x", [.trailingSlash]),
        ("https://h/Img/*", "https://h/img/a.txt", [.letterCase]),
        ("https://h/img/*", "https://h/Img/a.txt", [.letterCase]),
        ("https://h/list?id=7&*", "http://h/list?id=7&page=2", [.scheme]),
        ("https://*.h/Img/*.png", "http://www.h/img/a.png?v=1", [.scheme, .query, .letterCase]),
    ]

    @Test("The patterns that almost match, with their differences", arguments: nearPatterns)
    func nearPattern(_ key: String, _ url: String, _ differences: [SubstitutionMap.NearMiss.Difference]) throws {
        let fixture = try CacheFixture(#""\#(key)": "a.txt""#)
        let misses = try fixture.cache().explain(request(url)).nearMisses
        #expect(misses.map(\.key) == [key])
        #expect(misses.first?.differences == differences)
    }

    static let encodings: [(key: String, url: String, differences: [SubstitutionMap.NearMiss.Difference])] = [
        ("https://h/items(7)", "https://h/items%287%29", [.percentEncoding]),
        ("https://h/items%287%29", "https://h/items(7)", [.percentEncoding]),
        ("https://h/a,b", "https://h/a%2Cb", [.percentEncoding]),
        ("https://h/d:1", "https://h/d%3A1", [.percentEncoding]),
        ("https://h/u/ada@example.com", "https://h/u/ada%40example.com", [.percentEncoding]),
        ("https://h/a+b", "https://h/a%20b", [.percentEncoding]),
        ("https://h/a%2Bb", "https://h/a+b", [.percentEncoding]),
        ("https://h/x%2Fy", "https://h/x/y", [.percentEncoding]),
        ("https://h/s?q=a+b", "https://h/s?q=a%20b", [.percentEncoding]),
        ("https://h/caf\u{E9}", "https://h/cafe%CC%81", [.percentEncoding]),
        ("https://h/cafe\u{301}/x", "https://h/caf%C3%A9/x", [.percentEncoding]),
        ("https://h/s?b=(1)&a=2", "https://h/s?a=2&b=%281%29", [.percentEncoding]),
        ("https://h/items(7)/*", "https://h/items%287%29/x", [.percentEncoding]),
        ("https://h/Items(7)", "http://h/items%287%29/", [.scheme, .trailingSlash, .letterCase, .percentEncoding]),
        ("https://h/items(7)", "https://h/items%287%29?x=1", [.query, .percentEncoding]),
        ("https://h/s?q=%FF", "https://h/s?q=%FE", [.query]),
        ("https://h/a%2Ab(1)", "https://h/a*b%281%29", [.percentEncoding]),
    ]

    @Test("Keys that differ in percent-encoding, with their differences", arguments: encodings)
    func encoding(_ key: String, _ url: String, _ differences: [SubstitutionMap.NearMiss.Difference]) throws {
        let fixture = try CacheFixture(#""\#(key)": "a.txt""#)
        let misses = try fixture.cache().explain(request(url)).nearMisses
        #expect(misses.map(\.differences) == [differences])
        guard differences == [.percentEncoding] else { return }
        let advice = "Copy the request's path and query into the key."
        #expect(misses.map(\.description) == ["“\(key)” differs only in percent-encoding. \(advice)"])
    }

    @Test("Of many patterns, the one that differs least is named first")
    func manyPatterns() throws {
        let paths = ["*", "api/*", "*/x", "api/x*", "a*", "ap*"].map { "https://exmaple.org/\($0)" }
        let keys = paths + ["http://exmaple.org/*"]
        let fixture = try CacheFixture(keys.map { "\"\($0)\": \"a.txt\"" }.joined(separator: ", "))
        let misses = try fixture.cache().explain(request("http://example.org/api/x")).nearMisses
        #expect(misses.map(\.key).first == "http://exmaple.org/*")
        #expect(misses.count == 5)
    }

    @Test("A key with the URL's host and path is named even after more misspelled keys than are compared")
    func keyAfterManyMisspelled() throws {
        let name = String(repeating: "abcdefgh", count: 6)
        let misspelled = name.indices.flatMap { index in
            "ijklmnopqrstuvwxyz0123".map { name.replacingCharacters(in: index...index, with: String($0)) }
        }
        #expect(misspelled.count > 1_000)
        let keys = misspelled.map { "https://h/\($0)" } + ["http://h/\(name)"]
        let fixture = try CacheFixture(keys.map { "\"\($0)\": \"a.txt\"" }.joined(separator: ", "))
        let misses = try fixture.cache().explain(request("https://h/\(name)")).nearMisses
        #expect(misses.first?.key == "http://h/\(name)")
    }

    static let misspellings: [(key: String, url: String, rest: String)] = [
        (
            "https://api.example.com/confg", "https://api.example.com/config",
            "path. Correct the path of the key or of the request."
        ),
        (
            "https://api.exmaple.com/v1/a", "https://api.example.com/v1/a",
            "host. Correct the host."
        ),
        (
            "https://api.exmaple.com/confg", "https://api.example.com/config",
            "host and path. Correct the host, and correct the path of the key or of the request."
        ),
        (
            "http://api.example.com/user?a=1", "https://api.example.com/usr?a=1",
            "scheme and path. Begin the key with *:// to match both schemes, and correct the path of the key or of the request."
        ),
        ("https://api.exmaple.com/*", "https://api.example.com/a/b", "host. Correct the host."),
        ("https://*.exmaple.com/*.txt", "https://www.example.com/a.txt", "host. Correct the host."),
        (
            "https://h/q", "https://h/q?v=1",
            #"query: only the request has “v=1”. Write { "file": "a.txt", "ignoreQuery": true } as the key's value."#
        ),
        (
            "https://h/q/*?v=1", "http://h/q/a?v=2",
            "scheme and query: the request has “v=2”, and the key “v=1”. Begin the key with *:// to match both schemes, "
                + "and add an entry for the request's query, "
                + #"or write { "file": "a.txt", "ignoreQuery": true } as the key's value if the response doesn't depend on "#
                + "the query."
        ),
        ("https://h:81/q", "https://h/q", "port. Use the request's port, or :* for any."),
        ("https://h/Q", "https://h/q", "letter case. Match the request's letter case."),
        ("https://example.com/a", "https://www.example.com/a", "host. Correct the host."),
        ("https://www.example.com/*", "https://example.com/a.txt", "host. Correct the host."),
    ]

    @Test("Misspelled keys and near misses, with advice", arguments: misspellings)
    func misspelled(key: String, url: String, rest: String) throws {
        let fixture = try CacheFixture(#""\#(key)": "a.txt""#)
        let misses = try fixture.cache().explain(request(url)).nearMisses
        #expect(misses.map(\.description) == ["“\(key)” differs only in \(rest)"])
    }

    @Test(
        "If keys differ in their queries, the advice is an entry for this one, once",
        arguments: [
            (
                ["https://h/l?page=1", "https://h/l?page=2"], "https://h/l?page=3",
                "“https://h/l?page=1” differs only in query: the request has “page=3”, and the key “page=1”. Add an "
                    + "entry for the request's query."
            ),
            (
                ["https://h/l", "https://h/l?page=2"], "https://h/l?page=3",
                "“https://h/l” differs only in query: only the request has “page=3”. Add an entry for the request's query."
            ),
            (
                ["https://h/l/*?page=1", "https://h/l/*?page=2"], "http://h/l/x?page=3",
                "“https://h/l/*?page=1” differs only in scheme and query: the request has “page=3”, and the key “page=1”. Begin the key with *:// to match both "
                    + "schemes, and add an entry for the request's query."
            ),
            (
                ["https://h/l?page=1"], "https://h/l?page=3",
                "“https://h/l?page=1” differs only in query: the request has “page=3”, and the key “page=1”. Add an "
                    + "entry for the request's query, or write "
                    + #"{ "file": "a.txt", "ignoreQuery": true } as the key's value if the response doesn't depend on "#
                    + "the query."
            ),
        ]
    )
    func queries(keys: [String], url: String, expected: String) throws {
        let fixture = try CacheFixture(keys.map { "\"\($0)\": \"a.txt\"" }.joined(separator: ", "))
        #expect(try fixture.cache().explain(request(url)).nearMisses.map(\.description) == [expected])
    }

    @Test(
        "The parameters that differ are shown, without credentials",
        arguments: [
            ("https://h/q?a=1&b=2", "https://h/q?b=2&a=3", "the request has “a=3”, and the key “a=1”"),
            ("https://h/q?a=1", "https://h/q", "only the key has “a=1”"),
            ("https://h/q?a", "https://h/q?a=1&a=1", "the request has “a=1” and “a=1”, and the key “a”"),
            ("https://h/q", "https://h/q?access_token=s3cr3t", "only the request has “access_token=redacted”"),
            ("https://h/*?a=*", "https://h/q?b=1", "the request has “b=1”, and the key “a=*”"),
            (
                "https://h/q", "https://h/q?a=1&b=2&c=3&d=4&e=5",
                "only the request has “a=1”, “b=2”, “c=3” and 2 more"
            ),
        ]
    )
    func parameters(key: String, url: String, expected: String) throws {
        let map = try SubstitutionMap([key: .text("a")])
        let misses = LocalSubstitutionCache(map: map).explain(try request(url)).nearMisses.map(\.description)
        #expect(misses.count == 1)
        #expect(misses.first?.contains("differs only in query: \(expected). ") == true, "\(misses)")
    }

    @Test("Several differences are listed as in a sentence")
    func severalDifferences() throws {
        let text = try #require(cache.explain(request("http://other/path/x/")).nearMisses.first?.description)
        #expect(
            text.contains("differs only in scheme, port, query, trailing slash and letter case")
        )
        #expect(text.contains("both schemes, use the request's port"))
    }

    @Test("Ignored parameters aren't shown, and the advice is to ignore more")
    func ignoredParameters() throws {
        let map = try SubstitutionMap(["https://h/a": .text("a").ignoreQuery("v")])
        let misses = LocalSubstitutionCache(map: map).explain(try request("https://h/a?v=1&w=2")).nearMisses
        #expect(
            misses.map(\.description) == [
                "“https://h/a” differs only in query: only the request has “w=2”. List more parameters in .ignoreQuery(…)."
            ]
        )
    }

    @Test(
        "An error and the network's response have no status of the entry",
        arguments: [
            (#"{ "error": "timedOut" }"#, nil), (#"{ "forwardTo": "http://l/b" }"#, nil),
            (#"{ "text": "a" }"#, 200),
        ] as [(String, Int?)]
    )
    func statusOfEntry(_ entry: String, _ status: Int?) throws {
        let cache = try CacheFixture("\"https://h/a\": \(entry)").cache()
        #expect(try cache.explain(request("https://h/a")).status == status)
    }

    @Test(
        "A response that can't have a body has a type only if the entry's headers set one",
        arguments: [
            (#"{ "status": 204 }"#, nil), (#"{ "status": 205 }"#, nil), (#"{ "status": 304 }"#, nil),
            (#"{ "status": 204, "headers": { "Content-Type": "text/css" } }"#, "text/css"),
        ] as [(String, String?)]
    )
    func typeWithoutBody(_ entry: String, _ type: String?) throws {
        let cache = try CacheFixture("\"https://h/a\": \(entry)").cache()
        #expect(try cache.explain(request("https://h/a")).contentType?.prefix { $0 != ";" } == type?[...])
    }

    @Test("A stream whose file can't be read fails, and doesn't count for times")
    func unreadableStream() async throws {
        let fixture = try CacheFixture(
            #""https://h/*": [{ "times": 1, "stream": [{ "file": "*" }] }, { "text": "second" }]"#
        )
        try FileManager.default.createSymbolicLink(at: fixture.file("out"), withDestinationURL: fixture.mapFile)
        let cache = try fixture.cache()
        #expect(try cache.explain(request("https://h/out")).attached.outcome == .failed)
        let session = try cache.makeSession(unmatched: .fail)
        defer { session.finishTasksAndInvalidate() }
        for _ in 0..<2 {
            await #expect(throws: URLError.self) { try await session.data(for: request("https://h/out")) }
        }
    }

    static let judgements: [(entry: String, attached: String, cacheOnly: String)] = [
        (
            #"{ "text": "a", "delay": 1.5 }"#, "matched: the entry after 1.5 s",
            "unmatched: the network, because the entry's field “delay” needs an attached session"
        ),
        (
            #"{ "file": "a.txt", "use": "whenOffline" }"#,
            "waits for offline: the network or, if that fails, the entry's file",
            #"unmatched: the network, because the entry is used only if the network fails ("use": "whenOffline")"#
        ),
        (
            #"{ "error": "timedOut" }"#, "failed: the error “timedOut”",
            "unmatched: the network, because the entry's field “error” needs an attached session"
        ),
        (
            #"{ "forwardTo": "http://l/b", "delay": 1 }"#, "forwarded: the network, at http://l/b after 1 s",
            "unmatched: the network, because the entry's field “delay” needs an attached session"
        ),
        (
            #"{ "status": 503 }"#, "matched: the entry",
            "unmatched: the network, because URLSession never uses a cached response with the status 503"
        ),
        (#""a.txt""#, "matched: the entry's file", "matched: the entry's file"),
        (
            "null", "unmatched: the network, because the entry is null, so the URL is never substituted",
            "unmatched: the network, because the entry is null, so the URL is never substituted"
        ),
    ]

    @Test("One line says what an attached session gets, the next what a session gets cache only", arguments: judgements)
    func lines(entry: String, attached: String, cacheOnly: String) throws {
        let fixture = try CacheFixture("\"https://h/a\": \(entry)")
        let lines = try fixture.cache().explain(request("https://h/a")).description.split(separator: "\n")
        #expect(lines[1] == "  attached:     \(attached)")
        #expect(lines[2] == "  cache only:   \(cacheOnly)")
    }

    @Test("A field is added to an entry that is an object")
    func misspelledObject() throws {
        let fixture = try CacheFixture(#""https://h/q": { "file": "a.txt", "status": 203 }"#)
        let misses = try fixture.cache().explain(request("https://h/q?v=1")).nearMisses
        #expect(
            misses.map(\.description) == [
                #"“https://h/q” differs only in query: only the request has “v=1”. Add "ignoreQuery": true."#
            ]
        )
    }

    @Test("The advice on a map made in code is Swift code")
    func madeInCode() throws {
        let fixture = try CacheFixture("", files: ["a.txt": "a"])
        let map = try SubstitutionMap(
            [
                "https://h/q": "a.txt", "https://h/text": .text("a"),
                "https://h/post": .text("a").methods("POST", "PUT"), "https://h/get": .text("a").methods("get"),
                "https://h/list": [.text("a").times(1), .text("b")],
            ],
            resources: fixture.resources
        )
        func description(_ url: String, _ method: String = "GET") throws -> String? {
            var request = try request(url)
            request.httpMethod = method
            return LocalSubstitutionCache(map: map).explain(request).nearMisses.first?.description
        }
        #expect(
            try description("https://h/q?v=1")
                == #"“https://h/q” differs only in query: only the request has “v=1”. Write .file("a.txt").ignoreQuery() as the key's value."#
        )
        #expect(
            try description("https://h/text?v=1")
                == "“https://h/text” differs only in query: only the request has “v=1”. Add .ignoreQuery()."
        )
        #expect(
            try description("https://h/post")
                == "“https://h/post” matches only POST and PUT. To match GET too, add it to .methods(…), beside the others."
        )
        let toPut = [
            "text": #"add .methods("PUT"); to keep GET too, .methods("GET", "PUT")."#,
            "q": #"write .file("a.txt").methods("PUT") as the key's value; to keep GET too, .methods("GET", "PUT")."#,
            "list": #"add .methods("PUT") to an alternative; to keep GET too, .methods("GET", "PUT")."#,
        ]
        for (path, fix) in toPut {
            let url = "https://h/\(path)"
            #expect(try description(url, "PUT") == "“\(url)” matches only GET. To match PUT, \(fix)")
        }
        #expect(
            try description("https://h/get")
                == "“https://h/get” matches only get, but letter case matters. Write “GET” in .methods(…)."
        )
    }

    @Test(
        "The key of another resource isn't a misspelling",
        arguments: [
            ("https://h/a", "https://h/b"), ("https://h/page1", "https://h/page2"),
            ("https://h/page", "https://h/page2"),
            ("https://h/config", "https://h/contact"), ("https://a.example/config", "https://b.example/config"),
            ("https://h/a/1", "https://h/a/2/"), ("https://h/a/1", "http://h/a/2"),
            ("https://h/a/1", "https://h:81/a/2"),
            ("https://h/a/1?x=1", "https://h/a/2"), ("https://h/a/1", "https://h/a/1/2"),
            ("https://h/a/1", "https://h/b/2"),
            ("https://h/a/*/1", "https://h/b/c/1"),
            ("https://h/icons/*", "https://h/fonts/a"), ("https://h/asets/*.png", "https://h/assets/a.txt"),
            ("https://*.exmaple.com/*", "https://example/a"), ("https://h/v1/*", "https://h/v2/a"),
        ]
    )
    func otherResource(key: String, url: String) throws {
        let fixture = try CacheFixture(#""\#(key)": "a.txt""#)
        #expect(try fixture.cache().explain(request(url)).nearMisses.isEmpty)
    }

    @Test(
        "If only one of several segments of the path differs, the key is a near miss, the closest key first",
        arguments: [
            (["https://h/v1/config"], "https://h/v2/config", ["https://h/v1/config"]),
            (["https://h/a/config"], "https://h/b/config", ["https://h/a/config"]),
            (
                ["https://h/api/items/2", "https://h/api/papers/40", "https://h/api/papers/3", "https://h/login"],
                "https://h/api/papers/2",
                ["https://h/api/papers/3", "https://h/api/papers/40", "https://h/api/items/2"]
            ),
            (
                (1...7).map { "https://h/papers/\($0)" }, "https://h/papers/9",
                (1...5).map { "https://h/papers/\($0)" }
            ),
            // A misspelled key is closer.
            (["https://h/a/1", "https://h/a/confg"], "https://h/a/config", ["https://h/a/confg"]),
        ]
    )
    func otherSegment(keys: [String], url: String, expected: [String]) throws {
        let fixture = try CacheFixture(keys.map { "\"\($0)\": \"a.txt\"" }.joined(separator: ", "))
        let misses = try fixture.cache().explain(request(url)).nearMisses
        #expect(misses.map(\.key) == expected)
        #expect(misses.allSatisfy { $0.differences == [.path] })
        #expect(misses.first?.description.contains("differs only in path") == true, "\(misses)")
    }

    @Test("If a key matches, but its entry is skipped, other resources aren't near misses")
    func otherSegmentBesideSkipped() throws {
        let fixture = try CacheFixture(
            #""https://h/a/1": { "file": "a.txt", "methods": ["PUT"] }, "https://h/a/2": "a.txt""#
        )
        let misses = try fixture.cache().explain(request("https://h/a/1")).nearMisses
        #expect(misses.map(\.key) == ["https://h/a/1"])
    }

    @Test("A map without entries is said to have none")
    func noEntries() throws {
        let empty = LocalSubstitutionCache(map: try SubstitutionMap([:])).explain(try request("https://h/a"))
        #expect(empty.attached.reason == "the map has no entries")
        #expect(try cache.explain(request("https://elsewhere/a")).attached.reason == "no entry matches it")
    }

    @Test("The nearest of 20,000 keys is found fast", .timeLimit(.minutes(5)))
    func nearestOfMany() throws {
        func name(_ number: Int) -> String { String(number &* 2_654_435_761, radix: 36) }
        let keys = (0..<10_000).flatMap {
            ["https://cdn.example.com/news/\(name($0))-article.html", "https://\(name($0)).example.com/news/*"]
        }
        let cache = try CacheFixture(keys.map { "\"\($0)\": \"a.txt\"" }.joined(separator: ",\n")).cache()
        // The first explanation builds the finder.
        _ = try cache.explain(request("https://elsewhere/"))
        for (url, key) in [
            ("https://cdn.example.com/news/\(name(4_711))-artcile.html", keys[2 * 4_711]),
            ("https://\(name(4_711)).exmaple.com/news/a", keys[2 * 4_711 + 1]),
        ] {
            let asked = try request(url)
            var misses: [SubstitutionMap.NearMiss] = []
            let time = processorTime { misses = cache.explain(asked).nearMisses }
            #expect(misses.map(\.key) == [key])
            // A debug build takes some 0.1 s; a release build takes a few milliseconds.
            #expect(time < 2)
        }
    }

    @Test("Keys that are far off aren't named")
    func farOff() throws {
        #expect(
            try cache.explain(request("http://h/b.txt")).nearMisses.map(\.key) == ["https://h/*", "https://h/*.txt"]
        )
        #expect(try cache.explain(request("https://elsewhere/")).nearMisses.isEmpty)
    }
}
