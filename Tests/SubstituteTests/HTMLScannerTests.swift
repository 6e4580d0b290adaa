import Foundation
import Testing

@testable import substitute

@Suite("The scanner of HTML")
struct HTMLScannerTests {
    /// A page, and the URLs that it refers to.
    struct Case: CustomTestStringConvertible, Sendable {
        let html: String
        let urls: [String]

        init(_ html: String, _ urls: String...) {
            self.html = html
            self.urls = urls
        }

        var testDescription: String { html }
    }

    @Test(
        "finds what a page refers to",
        arguments: [
            Case("<img src=a.png>", "a.png"),
            Case("<IMG SRC='a.png'>", "a.png"),
            Case("<img\nalt=\"x>y\" src = \"a.png\" />", "a.png"),
            Case("<img src=a.png/>", "a.png/"),
            Case("<img/src=a.png/alt=b>", "a.png/alt=b"),
            Case("<img src=a.png src=b.png>", "a.png"),
            Case("<img data-src=a.png alt=src>"),
            Case("<img =src=b src=a>", "a"),
            Case("<img src>", ""),
            Case("<img src='a.png"),
            Case("<img src=a.png"),
            Case("<img src='?a=1&amp;b=2&#38;c&#x26;d&lt;e'>", "?a=1&b=2&c&d<e"),
            Case("<img src='?a=1&copy=2&amp=3&ampx=4&lt5&amp'>", "?a=1&copy=2&amp=3&ampx=4&lt5&"),
            Case("<img src='&#0;&#xD800;&#99999999999;&#;&#x;&apos;&quot'>", "\u{FFFD}\u{FFFD}\u{FFFD}&#;&#x;'\""),
            Case("<!-- <img src=a> --><img src=b>", "b"),
            Case("<!--><img src=a><!---><img src=b><!-- --!><img src=c><!-- -- > <img src=d> -->", "a", "b", "c"),
            Case("<!-- <img src=a>"),
            Case("<!x <img src=a><img src=b>", "b"),
            Case("<?xml <img src=a><img src=b>", "b"),
            Case("</p <img src=a><img src=b>", "b"),
            Case("</ <img src=a><img src=b>", "b"),
            Case("< img src=a><3<img src=b>", "b"),
            Case("<![CDATA[<img src=a>]]><img src=b>", "b"),
            Case("<script>'<img src=a>'</script><img src=b>", "b"),
            Case("<script>'</scripty><img src=a>'</SCRIPT ><img src=b>", "b"),
            Case("<script><!-- <script></script><img src=a> --></script><img src=b>", "b"),
            Case("<script><!-- <script> --></script><img src=b>", "b"),
            Case("<script><!-- x </script><img src=b>", "b"),
            Case("<script src=a><img src=b>", "a"),
            Case("<script/><img src=a></script><img src=b>", "b"),
            Case("<title><img src=a></title><textarea><img src=b></textarea><img src=c>", "c"),
            Case("<noscript><img src=a></noscript><iframe src=x><img src=b></iframe><img src=c>", "c"),
            Case("<svg><title/><style/><image href=a /><image xlink:href=b></svg><img src=c>", "a", "b", "c"),
            Case("<svg></svg><title/><img src=a>"),
            Case("<plaintext><img src=a></plaintext><img src=b>"),
            Case("<link rel=stylesheet href=a><link rel='Shortcut ICON' href=b><link rel=canonical href=c>", "a", "b"),
            Case("<link href=a><link rel=preload as=font href=b><link rel=next href=c>", "b"),
            Case("<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>", "a", "b", "c"),
            Case(
                "<video src=a poster=b><source src=c><track src=d></video><audio src=e></audio>",
                "a",
                "b",
                "c",
                "d",
                "e"
            ),
            Case("<a href=a><iframe src=b></iframe><form action=c><embed src=d><object data=e>"),
            Case("<input type=image src=a><table background=b><td background=c>", "a", "b", "c"),
            Case("<img srcset='a 1x, b.png?x,y 2x,c'>", "a", "b.png?x,y", "c"),
            Case("<img srcset=' ,a, b (x,y) 2x ,, c,d'>", "a", "b", "c,d"),
            Case("<img srcset=',, ,'><img srcset>"),
            Case("<source srcset=a.webp&#32;1x,b>", "a.webp", "b"),
            Case("<p style='background: url(a.png)'>", "a.png"),
            Case("<p style=\"background: url(&quot;a&amp;b&quot;)\">", "a&b"),
            Case("<p style=background:url(a.png)>", "a.png"),
            Case("<style>@import 'a'; p { background: url(b) }</style><p>url(c)</p>", "a", "b"),
            Case("<style><!-- p { background: url(a) } --></style>", "a"),
            Case("<base href=x><img src=a>", "a"),
            Case(""), Case("<"), Case("<i"), Case("</"), Case("<!"), Case("<!-"), Case("&"),
        ]
    )
    func references(_ page: Case) {
        let references = References(page: Array(page.html.utf8))
        #expect(references.all.map { String(decoding: $0.url, as: UTF8.self) } == page.urls)
    }

    @Test("tells where a URL stands, quotes left out, also in a part of an attribute with character references")
    func places() {
        let html = Array("<img src=\"a&amp;b\" srcset='&#97;b 1x, c&amp;d 2x' style=\"x: url( &quot;e&quot; )\">".utf8)
        let texts = References(page: html).all.map { String(decoding: html[$0.range], as: UTF8.self) }
        #expect(texts == ["a&amp;b", "&#97;b", "c&amp;d", "e"])
    }

    @Test("takes the first base, and finds what a copy can't have, and where a charset can be put")
    func rest() {
        let text =
            "<!DOCTYPE html><html><head lang=x><base target=_top><base href='/b/'><base href=c>"
            + "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"><script src=s integrity=i></script>"
        let html = Array(text.utf8)
        let references = References(page: html)
        #expect(references.base.map { String(decoding: $0, as: UTF8.self) } == "/b/")
        let unfit = references.unfit.map { String(decoding: html[$0], as: UTF8.self) }
        #expect(unfit == ["href='/b/'", "href=c", "content=\"default-src 'none'\""])
        let integrity = references.all.first?.integrity.map { String(decoding: html[$0], as: UTF8.self) }
        #expect(integrity == "integrity=i")
        #expect(String(decoding: html[..<references.placeOfCharset], as: UTF8.self).hasSuffix("<head lang=x>"))
        #expect(References(page: Array("<!doctype html>x".utf8)).placeOfCharset == 15)
        #expect(References(page: Array("x<p>".utf8)).placeOfCharset == 0)
    }

    @Test("takes any bytes, and every place is one of the document's")
    func anything() {
        let pieces = [
            "<", ">", "</", "<!--", "-->", "--!>", "<script", "</script>", "<style>", "</style>", "\"", "'", "=", "/",
            " ",
            "img", " src=", " srcset=", " style=", "url(", ")", "\\", "&#", "&amp;", "x41;", ",", "a", "@import", "/*",
            "*/",
            "\u{0}", "é", "\n", "<svg>", "</svg>", "<base href=", "<link rel=icon href=", "{", "}", ";",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            var html: [UInt8] = []
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                html += Array((pieces.randomElement(using: &generator) ?? "").utf8)
                if Int.random(in: 0..<10, using: &generator) == 0 {
                    html.append(.random(in: 0...255, using: &generator))
                }
            }
            for references in [References(page: html), References(styleSheet: html)] {
                var end = 0
                for reference in references.all where reference.range.lowerBound >= end {
                    end = reference.range.upperBound
                }
                #expect(
                    references.all.allSatisfy { $0.range.lowerBound >= 0 && $0.range.upperBound <= html.count },
                    "\(html)"
                )
                #expect(end <= html.count)
            }
        }
    }

    @Test(
        "takes time in proportion to the size",
        arguments: [
            "<", "<!--", "<script>", "<script><!--", "<script><!--<script>", "<a ", "<img src='", "<img a=", "&", "&#",
            "-",
            "<img src=a ", "<style>url(", "<style>\"", "<style>/*", "<style>@import ", "\\", "</", "<svg>",
            "<p style='url(",
            "<img srcset='a,", "(",
        ]
    )
    func time(piece: String) {
        // Measure processor time, since other tests run at the same time.
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        func seconds(_ count: Int) -> Double {
            let html = Array(String(repeating: piece, count: count).utf8)
            let start = now()
            _ = References(page: html)
            _ = References(styleSheet: html)
            return now() - start
        }
        // Ten times as much takes ten times as long, and a hundred times where it is not so.
        let short = (0..<3).map { _ in seconds(2_000) }.min() ?? 0
        let long = (0..<3).map { _ in seconds(20_000) }.min() ?? 0
        #expect(long < 40 * short + 0.05)
    }
}

@Suite("The scanner of CSS")
struct CSSScannerTests {
    @Test(
        "finds URLs",
        arguments: [
            ("p { background: url(a.png) }", ["a.png"]), ("url( 'a b' ) URL(\"c\")", ["a b", "c"]),
            ("url(\ta\n)", ["a"]), ("u\\72l(a)", ["a"]), ("url(a\\)b)", ["a)b"]),
            ("url('a\\27 b\\\nc\\\r\nd')", ["a'bcd"]),
            ("url(\\61\\000062 c)", ["abc"]), ("url(a b) url(c)", ["c"]), ("url(a'b) url(c)", ["c"]),
            ("url(a(b) url(c)", ["c"]),
            ("/* url(a) */url(b)/**/url(c)/*", ["b", "c"]), ("/*/url(a)*/", []), ("'url(a)' \"url(b)\"", []),
            ("'a\nurl(b)", ["b"]), ("url('a\nb') url(c)", []), ("my-url(a) url-x(b) -url(c) url (d)", []),
            ("2url(a)", []), ("@import 'a';", ["a"]), ("@IMPORT \"a\" screen; 'b'", ["a"]),
            ("@import url(a) x;", ["a"]),
            ("@import/**/'a'", ["a"]), ("@import; 'a'", []), ("@import {'a'}", []), ("@im\\70ort 'a'", ["a"]),
            ("@charset 'a'; @media x { p { src: url(b) format('c') } }", ["b"]),
            ("@namespace url(a); @namespace x url(b); url(c)", ["c"]),
            ("@font-face{src:url(a)format(\"b\"),url(c#d?e)}", ["a", "c#d?e"]),
            ("url()", [""]), ("url(data:x)", ["data:x"]), ("url(a", []), ("url(", []), ("url('a", []), ("@", []),
            ("\\", []), ("", []),
        ] as [(String, [String])]
    )
    func urls(css: String, urls: [String]) {
        var scanner = CSSScanner(Array(css.utf8))
        var found: [String] = []
        while let reference = scanner.next() { found.append(String(decoding: reference.url, as: UTF8.self)) }
        #expect(found == urls)
    }

    @Test("tells imports from others")
    func imports() {
        let css = Array("@import 'a'; @import url(b); c { d: url(e) }".utf8)
        #expect(References(styleSheet: css).all.map { $0.kind == .styleSheet } == [true, true, false])
    }
}

@Suite("The URL of a reference")
struct URLTextTests {
    @Test(
        "is what browsers take it for",
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
        "has the document's charset, where it is not UTF-8",
        arguments: [(nil, [0xE9], "%C3%A9"), ("shift_jis", [0x83, 0x41], "%E3%82%A2")] as [(String?, [UInt8], String)]
    )
    func charset(name: String?, bytes: [UInt8], path: String) throws {
        let base = try #require(URL(string: "http://h.example/"))
        let url = URLText.resolve(bytes, charset: name, against: base)
        #expect(url?.absoluteString == "http://h.example/" + path)
    }
}
