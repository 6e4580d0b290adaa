import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Comparing URLs", .values)
struct NormalizedURLTests {
    @Test(
        "These are the same URL",
        arguments: [
            ("HTTP://EXAMPLE.com/a", "http://example.com/a"),
            ("http://h:80/a", "http://h/a"),
            ("https://h:443/a", "https://h/a"),
            ("https://h:/a", "https://h/a"),
            ("https://h:0443/a", "https://h/a"),
            ("https://h:08080/a", "https://h:8080/a"),
            ("https://h", "https://h/"),
            ("https://h?a=1", "https://h/?a=1"),
            ("https://h/%c3%a9", "https://h/%C3%A9"),
            ("https://h/é", "https://h/%C3%A9"),
            ("https://h/%41%62%2D%2e%5F%7e", "https://h/Ab-._~"),
            ("https://h/?%61=%62", "https://h/?a=b"),
            ("https://h/a b", "https://h/a%20b"),
            ("https://h/a|b<>\"{}^`\\", "https://h/a%7Cb%3C%3E%22%7B%7D%5E%60%5C"),
            ("https://h/a[b]", "https://h/a%5Bb%5D"),
            ("https://h/a%20b|c", "https://h/a%20b%7Cc"),
            ("https://h/100%", "https://h/100%25"),
            ("https://h/%zz%4", "https://h/%25zz%254"),
            ("https://h/\u{0}\n", "https://h/%00%0A"),
            ("https://h/a*b?c=*", "https://h/a%2Ab?c=%2a"),
            ("https://h/a/./b/../c", "https://h/a/c"),
            ("https://h/a/%2e/b/%2E%2e/c", "https://h/a/c"),
            ("https://h/../../a", "https://h/a"),
            ("https://h/a/..", "https://h/"),
            ("https://h/a/b/..", "https://h/a/"),
            ("https://h/a/.", "https://h/a/"),
            ("https://h/a//../b", "https://h/a/b"),
            ("https://h/a#fragment", "https://h/a"),
            ("https://h/a?", "https://h/a"),
            ("https://h?#a", "https://h/"),
            ("https://h/%61?", "https://h/a"),
            ("https://h/a?b#c?d#e", "https://h/a?b"),
            ("https://h/a?$filter=name eq 'x'", "https://h/a?$filter=name%20eq%20%27x%27"),
            ("https://h/it's", "https://h/it%27s"),
            ("https://h/a?it's=1&b", "https://h/a?b&it%27s=1"),
            ("https://h/a?x=1&y=2", "https://h/a?y=2&x=1"),
            ("https://h/a?x=1&y=2&x=3", "https://h/a?y=2&x=1&x=3"),
            ("https://h/a?y=2&x=%31", "https://h/a?%78=1&y=2"),
            ("https://h/a?b&a&", "https://h/a?&a&b"),
            ("https://BÜCHER.example/a", "https://xn--bcher-kva.example/a"),
            ("https://faß.example/", "https://xn--fa-hia.example/"),
            ("https://%65xample.com/", "https://example.com/"),
            ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]/"),
        ]
    )
    func equal(first: String, second: String) throws {
        #expect(try NormalizedURL(first).canonical == NormalizedURL(second).canonical)
    }

    @Test(
        "These aren't the same URL",
        arguments: [
            ("http://h/a", "https://h/a"),
            ("https://h/a", "https://h:8443/a"),
            ("http://h:443/a", "http://h/a"),
            ("https://h/a", "https://h/A"),
            ("https://h/a", "https://h/a/"),
            ("https://h/a", "https://h//a"),
            ("https://h/a//b", "https://h/a/b"),
            ("https://h/a%2Fb", "https://h/a/b"),
            ("https://h/a%3Fb", "https://h/a?b"),
            ("https://h/a%20b", "https://h/a%2520b"),
            ("https://h/a+b", "https://h/a%20b"),
            ("https://h/a?x=1", "https://h/a?x=2"),
            ("https://h/a?x=1", "https://h/a?X=1"),
            ("https://h/a?x=1&x=2", "https://h/a?x=2&x=1"),
            ("https://h/a?x=1&y=2", "https://h/a?x=1%26y=2"),
            ("https://h/a?x", "https://h/a?x="),
            ("https://h/a?x&x", "https://h/a?x"),
            ("https://h/a?b/../c", "https://h/a?c"),
            ("https://h./a", "https://h/a"),
            ("https://www.h/a", "https://h/a"),
        ]
    )
    func different(first: String, second: String) throws {
        #expect(try NormalizedURL(first).canonical != NormalizedURL(second).canonical)
    }

    @Test(
        "These aren't URLs that can be substituted",
        arguments: [
            "", "a", "/a", "//h/a", "h/a", "https:", "https:/h", "https://", "https:///a", "https://?a", "https://#a",
            "htp://h/", "ftp://h/", "file:///a", "data:,x", "https://u@h/", "https://u:p@h/", "https://:80/",
            "https://h:x/", "https://h:65536/", "https://h:99999999999999999999/", "https://h:-1/", "https://[::1/",
            "https://[::1]x/", "https://[]/", "https://[g]/", "https://a b/", "https://a<b/", "https://a*b/",
            "https://ü b/", " https://h/",
        ]
    )
    func refused(text: String) {
        #expect(throws: Complaint.self) { try NormalizedURL(text) }
    }

    @Test("A request's fragment is dropped, and a key's is an error")
    func fragment() throws {
        #expect(try NormalizedURL("https://h/a#b").text == "https://h/a")
        #expect(throws: Complaint.self) { try NormalizedURL(key: "https://h/a#b") }
    }

    @Test("The parts are found, whether or not the URL had to be normalized")
    func parts() throws {
        for text in ["https://h.example:8080/a/b?c=d", "HTTPS://H.example:8080/a/%62?%63=d"] {
            let url = try NormalizedURL(text)
            #expect(url.scheme == "https")
            #expect(url.host == "h.example")
            #expect(url.layout.port == 8080)
            #expect(url.path == "/a/b")
            #expect(url.query == "c=d")
            #expect(url.withoutQuery == "https://h.example:8080/a/b")
        }
        #expect(try NormalizedURL("http://h/").layout.port == 80)
        #expect(try NormalizedURL("https://h").layout.port == 443)
        #expect(try NormalizedURL("https://h/a").query == nil)
        #expect(try NormalizedURL("https://h/a?").query == "")
    }

    @Test(
        "What `URL` makes of a text is the same URL as the text",
        arguments: ["https://bücher.example/é?ü=1 2", "https://ä%2f.example/", "https://ä%41.example/"]
    )
    func foundation(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(try NormalizedURL(url.absoluteString).canonical == NormalizedURL(text).canonical)
    }

    @Test(
        "Normalizing a normal URL changes nothing, on the fast path and the slow one",
        arguments: [0x5EED as UInt64]
    )
    func idempotence(seed: UInt64) throws {
        let pieces = [
            "a", "B", "z9", ".", "..", "/", "/", "/./", "//", "%2e", "%2F", "%c3%a4", "%41", "%", "%z", "é", "ß", "*",
            "?",
            "?", "&", "&", "=", "x=1", "x=2", "#", "@", ":", ":80", ":443", ":0", ":8080", "[::1]", "]", " ", "\\",
            "\u{0}",
            "+", "%2B", "'", "%27", "|", "~", "\u{301}", "😀",
        ]
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<10_000 {
            let scheme = random.pick(["http://", "https://", "HTTPS://"])
            let host = random.pick(["h", "h", "H.Example", "ü.example", "h:81", ""])
            let slash = random.once(in: 8) ? "" : "/"
            let text = scheme + host + slash + (0..<random.below(10)).map { _ in random.pick(pieces) }.joined()
            guard let url = try? NormalizedURL(text) else { continue }
            accepted += 1
            let again = try NormalizedURL(url.text)
            let sorted = try NormalizedURL(url.canonical)
            let slowly = try NormalizedURL(URLParts(url.text))
            let isSame =
                again.text == url.text && again.canonical == url.canonical && sorted.canonical == url.canonical
                && slowly.text == again.text && slowly.path == again.path && slowly.query == again.query
                && slowly.host == again.host && slowly.layout.port == again.layout.port
            guard isSame else {
                Issue.record("seed \(seed): \(text.debugDescription) → \(url.text) → \(again.text), \(slowly.text)")
                return
            }
        }
        #expect(accepted > 5_000, "seed \(seed)")
    }
}
