import Foundation
import TestSupport
import Testing
import WebReferences

@Suite("The URL of a reference", .values)
struct URLTextTests {
    @Test(
        "It's what browsers make of the text",
        arguments: [
            ("a.png", "http://h.example/x/a.png"), ("/a", "http://h.example/a"),
            ("//i.example/a", "http://i.example/a"),
            ("?q", "http://h.example/x/y?q"), ("../a/./b", "http://h.example/a/b"),
            ("../../../a", "http://h.example/a"),
            (" a\n.png\t", "http://h.example/x/a.png"), ("a b|c", "http://h.example/x/a%20b%7Cc"),
            ("a%20b|c%", "http://h.example/x/a%20b%7Cc%25"), ("é", "http://h.example/x/%C3%A9"),
            ("HTTPS://I.example/A", "https://I.example/A"), ("a#b", "http://h.example/x/a"),
            ("\\a\\b?c\\d", "http://h.example/a/b?c%5Cd"),
            ("a[1]", "http://h.example/x/a%5B1%5D"), ("http://[::1]/a", "http://[::1]/a"),
            ("http://h.example", "http://h.example"), ("http://h.example?q", "http://h.example?q"),
            ("#a", nil), ("", nil), (" ", nil), ("data:,x", nil), ("javascript:x()", nil), ("mailto:a@b", nil),
            ("about:blank", nil), ("blob:http://h/x", nil), ("http://", nil), ("http:///", nil), ("file:///a", nil),
        ] as [(String, String?)]
    )
    func url(text: String, url: String?) throws {
        let base = try #require(URL(string: "http://h.example/x/y?z"))
        let found = URLText.resolve(Array(text.utf8), charset: nil, against: base)
        #expect(found?.absoluteString == url)
    }

    @Test(
        "It has the document's charset if that isn't UTF-8",
        arguments: [(nil, [0xE9], "%C3%A9"), ("windows-1251", [0xE9], "%D0%B9")] as [(String?, [UInt8], String)]
    )
    func charset(name: String?, bytes: [UInt8], path: String) throws {
        let base = try #require(URL(string: "http://h.example/"))
        let url = URLText.resolve(bytes, charset: name, against: base)
        #expect(url?.absoluteString == "http://h.example/" + path)
    }
}
