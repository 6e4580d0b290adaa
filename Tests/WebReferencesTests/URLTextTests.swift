import Foundation
import TestSupport
import Testing
import WebReferences

@Suite("A URL as it's written", .values)
struct URLTextTests {
    @Test(
        "It's what browsers make of the text",
        arguments: [
            ("http://h.example/a b|c", "http://h.example/a%20b%7Cc"),
            ("http://h.example/a%20b|c%", "http://h.example/a%20b%7Cc%25"),
            ("http://h.example/é?é", "http://h.example/%C3%A9?%C3%A9"),
            ("HTTPS://I.example/A", "https://I.example/A"), ("http://h.example/a#b", "http://h.example/a#b"),
            ("http://h.example/a[1]", "http://h.example/a%5B1%5D"), ("http://[::1]/a", "http://[::1]/a"),
            ("http://b\u{FC}cher.example:80/\u{FC}", "http://xn--bcher-kva.example:80/%C3%BC"),
            ("http://h.example", "http://h.example"), ("http://h.example?q", "http://h.example?q"),
            ("/a b", "/a%20b"), ("http://\u{FFFD}.example/a", nil),
        ] as [(String, String?)]
    )
    func url(text: String, url: String?) {
        #expect(URLText.url(text)?.absoluteString == url)
    }
}
