import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Match patterns", .values)
struct MatchPatternTests {
    /// Returns whether a pattern, as a map's only entry, matches a URL.
    private func matches(_ pattern: String, _ url: String) throws -> Bool {
        let json = Array("{\"\(pattern)\": {\"status\": 404}}".utf8)
        return try !MapLoader.load(json: json, folder: nil, looksAtFiles: true).index.candidates(
            for: NormalizedURL(url)
        )
        .isEmpty
    }

    @Test(
        "These URLs match",
        arguments: [
            // The scheme.
            ("*://h/a", "http://h/a"), ("*://h/a", "https://h/a"), ("HTTPS://h/*", "https://h/a"),
            // The host.
            ("https://*/a", "https://h/a"), ("https://*/a", "https://1.2.3.4/a"), ("https://*/a", "https://[::1]/a"),
            ("https://*.h.com/a", "https://h.com/a"), ("https://*.h.com/a", "https://b.a.h.com/a"),
            ("https://*.H.com/a", "https://a.h.COM/a"), ("https://*.bücher.de/a", "https://www.bücher.de/a"),
            ("https://*.com/a", "https://h.com/a"),
            // The port.
            ("https://h/*", "https://h:443/a"), ("https://h:443/*", "https://h/a"), ("https://h:/*", "https://h/a"),
            ("https://h:8443/*", "https://h:8443/a"), ("https://h:*/a", "https://h/a"),
            ("https://h:*/a", "https://h:8443/a"), ("*://h/a", "http://h:80/a"), ("*://h/a", "https://h:443/a"),
            ("*://h:443/a", "https://h/a"), ("*://h:443/a", "http://h:443/a"),
            // The path.
            ("https://h/*", "https://h/"), ("https://h/*", "https://h"), ("https://h/*", "https://h/a/b"),
            ("https://h/a*", "https://h/a"), ("https://h/a*c", "https://h/ac"), ("https://h/a*c", "https://h/ab/bc"),
            ("https://h/*.js", "https://h/a/b.min.js"), ("https://h/a/../b/*", "https://h/b/c"),
            ("https://h/%61/*", "https://h/a/b"), ("https://h/é/*", "https://h/%C3%A9/b"),
            ("https://*.h.com", "https://h.com/"),
            // The query.
            ("https://h/a*", "https://h/a?b=c"), ("https://h/*", "https://h/?b"),
            ("https://h/*.js*", "https://h/a.js?v=1"),
            ("https://h/a?v=*", "https://h/a?v=1"), ("https://h/a?*", "https://h/a?"),
            ("https://h/*c", "https://h/a?b=c"),
            ("https://h/a?b=*&a=1", "https://h/a?a=1&b=2"), ("https://h/a?v=*", "https://h/a?v=1&w=2"),
            // An apostrophe.
            ("https://h/*'Milk'", "https://h/Products?$filter=Name eq 'Milk'"),
            ("https://h/*'Milk'", "https://h/Products?$filter=Name%20eq%20%27Milk%27"),
            ("https://h/*%27Milk%27", "https://h/Products?$filter=Name eq 'Milk'"),
            ("https://h/Products('*')", "https://h/Products(%27Milk%27)"),
            ("https://h/it's*", "https://h/it%27s?a='b'"),
            // A literal asterisk.
            ("https://h/%2A/*", "https://h/*/a"), ("https://h/%2a/*", "https://h/%2A/a"),
            ("https://h/*c", "https://h/*c"),
        ]
    )
    func yes(pattern: String, url: String) throws {
        #expect(try matches(pattern, url))
    }

    @Test(
        "These URLs don't match",
        arguments: [
            // The scheme.
            ("https://*/a", "http://h/a"), ("http://*/a", "https://h/a"),
            // The host, whose wildcard never reaches into the path.
            ("https://*.h.com/a", "https://xh.com/a"), ("https://*.h.com/a", "https://h.com.evil.net/a"),
            ("https://*.h.com/a", "https://evil.net/.h.com/a"), ("https://*/a", "https://h/b/a"),
            ("https://h/*", "https://www.h/a"), ("https://*.h.com/a", "https://com/a"),
            // The port.
            ("https://h/*", "https://h:8443/a"), ("https://h:8443/*", "https://h/a"), ("*://h/a", "http://h:443/a"),
            ("*://h/a", "https://h:80/a"), ("*://h:443/a", "http://h/a"), ("https://h:*/a", "http://h/a"),
            // The path.
            ("https://h/a*", "https://h/A"), ("https://h/a/*", "https://h/a"), ("https://h/*.js", "https://h/a.jsx"),
            ("https://*/a", "https://h/a/"), ("https://h/*a", "https://h/%2561"),
            ("https://*.h.com", "https://h.com/a"),
            // The query.
            ("https://h/*.js", "https://h/a.js?v=1"), ("https://h/a?v=*", "https://h/a"),
            ("https://*/a", "https://h/a?"),
            ("https://h/a?v=*", "https://h/a?w=1"),
            // A literal asterisk.
            ("https://h/%2A/*", "https://h/b/a"),
        ]
    )
    func no(pattern: String, url: String) throws {
        #expect(try !matches(pattern, url))
    }

    @Test("A key whose only asterisk is written %2A is an exact key")
    func literalAsterisk() throws {
        let json = Array(#"{"https://h/%2A": {"status": 404}}"#.utf8)
        let index = MapLoader.load(json: json, folder: nil, looksAtFiles: true).index
        #expect(try index.candidates(for: NormalizedURL("https://h/*")).count == 1)
        #expect(try index.candidates(for: NormalizedURL("https://h/a")).isEmpty)
    }

    @Test(
        "These aren't match patterns",
        arguments: [
            "*", "*/a", "*.h.com/*", "*//h/a", "h*://h/", "ftp://*/", "*:/h/", "https://a*b.com/", "https://*h/",
            "https://h*/", "https://a.*/", "https://*.*.com/", "https://**/", "https://*./", "https://*.a*.com/",
            "https://h:8*/", "https://h:**/", "https://*:99999/", "https://u@*/", "https://u:p@h/*", "https://h/*#f",
            "https:///*", "https://?*", "https://a b/*", "https://:80/*", "*://",
        ]
    )
    func refused(key: String) {
        #expect(throws: Complaint.self) { try MatchPattern(key) }
    }

    @Test(
        "These patterns are the same",
        arguments: [
            ("https://h/*", "HTTPS://H:443/*"), ("http://h:80/*", "http://h/*"),
            ("https://h:08443/*", "https://h:8443/*"),
            ("https://*/é", "https://*/%c3%a9"), ("https://h/a/../*", "https://h/*"), ("https://*", "https://*/"),
            ("https://h/a?b=*&a=1", "https://h/a?a=1&b=*"), ("https://h/%2a*", "https://h/%2A*"),
            ("https://h/*?a='b'", "https://h/*?a=%27b%27"),
        ]
    )
    func equal(first: String, second: String) throws {
        #expect(try MatchPattern(first).text == MatchPattern(second).text)
    }

    @Test(
        "These patterns aren't the same",
        arguments: [
            ("https://h/*", "http://h/*"), ("https://h/*", "*://h/*"), ("https://h/*", "https://h:*/*"),
            ("https://h/*", "https://*.h/*"), ("*://h:443/*", "*://h/*"), ("https://h/*", "https://h/**"),
            ("https://h/%2A*", "https://h/**"), ("https://h/*?a=1", "https://h/*?a=2"),
        ]
    )
    func different(first: String, second: String) throws {
        #expect(try MatchPattern(first).text != MatchPattern(second).text)
    }

    @Test("Matching a hostile URL takes linear time", .timeLimit(.minutes(5)))
    func linearTime() throws {
        let key = "https://h/" + String(repeating: "*a", count: 50)
        let json = Array("{\"\(key)\": {\"status\": 404}, \"\(key)*b*\": {\"status\": 404}}".utf8)
        let index = MapLoader.load(json: json, folder: nil, looksAtFiles: true).index
        let url = "https://h/" + String(repeating: "a", count: 100_000)
        var found = 0
        let time = try ContinuousClock().measure { found = try index.candidates(for: NormalizedURL(url)).count }
        #expect(found == 1)
        #expect(time < .seconds(5))
    }
}
