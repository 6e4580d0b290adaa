import TestSupport
import Testing

@testable import WebReferences

@Suite("References in a style sheet", .values)
struct CSSScannerTests {
    @Test(
        "URLs are found",
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
            ("url()", [""]), ("url(data:x)", ["data:x"]), ("@", []), ("\\", []), ("", []),
            // The end of the style sheet closes everything (CSS Syntax §4.3).
            ("url(a", ["a"]), ("url( a ", ["a"]), ("url(", [""]), ("url('a", ["a"]), ("@import 'a", ["a"]),
            ("url('a\\", ["a"]), ("url(a b", []), ("url(a\"", []),
            ("image-set('a' 1x, \"b\" 2x type('c'), url(d) 3x) 'e'", ["a", "b", "d"]),
            ("-WebKit-Image-Set(url('a') 1x, 'b' 2x)", ["a", "b"]), ("image-set(('a') ['b'] {'c'} 'd')", ["d"]),
            ("src('a') src( \"b\" x) src(c) src(var(--x) 'd')", ["a", "b"]), ("#url(a) url(b)", ["b"]),
            ("<!--url(a)-->url(b)", ["a", "b"]), ("\u{0}url(a) url(b\u{1}) url(c)", ["c"]),
            ("x{@import 'a'} @import x('b') 'c'; @import 'd'", ["d"]), ("a{@namespace x} url(b)", ["b"]),
        ] as [(String, [String])]
    )
    func urls(css: String, urls: [String]) {
        #expect(CSSScanner(SourceText(Array(css.utf8))).map(\.url.string) == urls)
    }
}
