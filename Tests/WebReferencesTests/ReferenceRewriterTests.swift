import Foundation
import TestSupport
import Testing

@testable import WebReferences

@Suite("The reference rewriter", .values)
struct ReferenceRewriterTests {
    /// The known origins, and what replaces each.
    private static let origins = [
        "https://www.example.com": "http://127.0.0.1:1", "http://www.example.com": "http://127.0.0.1:2",
        "https://cdn.example:8443": "http://127.0.0.1:3", "https://xn--bcher-kva.example": "http://127.0.0.1:4",
        "https://[::1]": "http://127.0.0.1:5", "https://xn--r8jz45g.example": "http://127.0.0.1:6",
    ]

    private static func rewriter(_ document: String = "https://www.example.com/a/b.html") throws -> ReferenceRewriter {
        ReferenceRewriter(document: try #require(URL(string: document))) { origins[$0.description] }
    }

    // MARK: URLs

    @Test(
        "It replaces the scheme and authority as browsers read them, and keeps the rest",
        arguments: [
            ("https://www.example.com/a?b#c", "http://127.0.0.1:1/a?b#c"),
            ("https://www.example.com", "http://127.0.0.1:1"), ("https://www.example.com?q", "http://127.0.0.1:1?q"),
            ("https://www.example.com#f", "http://127.0.0.1:1#f"),
            ("//www.example.com/%7e'", "http://127.0.0.1:1/%7e'"),
            ("http://www.example.com/", "http://127.0.0.1:2/"), ("HTTPS://WWW.Example.COM/A", "http://127.0.0.1:1/A"),
            ("https://www.example.com:443/", "http://127.0.0.1:1/"),
            ("https://www.example.com:/", "http://127.0.0.1:1/"),
            ("https://www.example.com:0443/", "http://127.0.0.1:1/"), ("//cdn.example:8443/x", "http://127.0.0.1:3/x"),
            (" \u{1}\thttps://www.example.com/ ", " \u{1}\thttp://127.0.0.1:1/ "),
            ("ht\ntps:/\t/www.exa\rmple.com\t/x", "http://127.0.0.1:1\t/x"),
            ("//www.example.com ", "http://127.0.0.1:1 "),
            ("https:\\\\www.example.com\\x", "http://127.0.0.1:1\\x"), ("\\/www.example.com/x", "http://127.0.0.1:1/x"),
            ("////www.example.com/x", "http://127.0.0.1:1/x"), ("https:///www.example.com/", "http://127.0.0.1:1/"),
            // A scheme other than the base's needs no slashes.
            ("http:www.example.com/", "http://127.0.0.1:2/"), ("http:/www.example.com/", "http://127.0.0.1:2/"),
            ("https://bücher.example/ü", "http://127.0.0.1:4/ü"),
            ("https://b%C3%BCcher.example/", "http://127.0.0.1:4/"),
            ("https://BÜCHER.example/", "http://127.0.0.1:4/"), ("https://www%2Eexample.com/", "http://127.0.0.1:1/"),
            ("https://[::1]/", "http://127.0.0.1:5/"), ("https://[::1]:443/", "http://127.0.0.1:5/"),
        ]
    )
    func known(_ written: String, _ expected: String) throws {
        #expect(try Self.rewriter().url(written) == expected)
    }

    @Test(
        "It leaves references that aren't clearly to a known origin",
        arguments: [
            "", "/", "a", "?q", "#f", "/a//www.example.com", "a://www.example.com", "https:", "https:/x", "https:x",
            "https:www.example.com/", "https:/www.example.com/",
            "//",
            "https://", "https:///", "https://www.example.com.evil.example/", "https://www.example.com:8443/",
            "https://www.example.com:99999/", "https://www.example.com:4 43/", "https://user@www.example.com/",
            "https://user:pw@www.example.com/", "https://www.example.com@evil.example/", "//@www.example.com/",
            "https://www.exa mple.com/", "https://www.example.com%2F/", "https://www.example.com%40evil.example/",
            "https://www.example.com%00/", "https://[::1/", "https://::1/", "data:,https://www.example.com/",
            "javascript:'https://www.example.com/'", "blob:https://www.example.com/x", "mailto:a@www.example.com",
            "ftp://www.example.com/", "httpss://www.example.com/", "1https://www.example.com/",
            "https;//www.example.com/", "x//www.example.com/", "https://other.example/",
        ]
    )
    func unknown(_ written: String) throws {
        #expect(try Self.rewriter().url(written) == nil)
    }

    // MARK: HTML

    @Test(
        "It replaces every URL that a page loads or links to",
        arguments: [
            "<a href=URL>", "<A HREF='URL'>", "<a ping=\"URL /x URL\">", "<area href=URL>", "<audio src=URL>",
            "<base href=URL>", "<body background=URL>", "<button formaction=URL>", "<embed src=URL>",
            "<form action=URL>",
            "<frame src=URL>", "<html manifest=URL>", "<iframe src=URL></iframe>",
            "<img src=URL srcset='URL 1x,URL 2x'>",
            "<input src=URL formaction=URL>", "<link rel=canonical href=URL>",
            "<link rel=preload imagesrcset='URL 1x'>",
            "<object data=URL>", "<script src=URL integrity=x></script>", "<source src=URL srcset=URL>",
            "<td background=URL>",
            "<track src=URL>", "<video src=URL poster=URL>", "<svg><use href=URL xlink:href=URL>",
            "<svg><a xlink:href=URL>",
            "<svg><g fill='url(URL#a)'>", "<p style='x:url(URL)'>", "<p style=\"x:url(&quot;URL&quot;)\">",
            "<style>@import \"URL\";x{y:url( URL )}</style>", "<meta http-equiv=refresh content='0; url=URL'>",
            "<iframe srcdoc='&lt;a href=&quot;URL&quot;>&lt;p style=x:url(URL)>'></iframe>",
            "<a href='&#104;ttps&colon;//www&period;example.com/x'>",
            "<p style='x:url(\"\\68 ttps://www.example.com/x\")'>",
            "<iframe srcdoc='<a href=https&amp;colon;//www.example.com/x>'></iframe>",
        ]
    )
    func html(_ template: String) throws {
        let written = template.replacing("URL", with: "https://www.example.com/x?a=1&amp;b")
        let expected = written.replacing("https://www.example.com", with: "http://127.0.0.1:1")
            .replacing("&#104;ttps&colon;//www&period;example.com", with: "http://127.0.0.1:1")
            .replacing("\\68 ttps://www.example.com", with: "http://127.0.0.1:1")
            .replacing("https&amp;colon;//www.example.com", with: "http://127.0.0.1:1")
        #expect(try Self.html(written) == expected)
    }

    @Test(
        "It leaves URLs that a page neither loads nor links to",
        arguments: [
            "<q cite=URL>", "<img longdesc=URL>", "<meta property=og:image content=URL>", "<p title=URL>URL</p>",
            "<script>location = 'URL'</script>", "<script type=module>import 'URL'</script>", "<!-- <a href=URL> -->",
            "<noscript><img src=URL></noscript>", "<textarea><a href=URL></textarea>", "<div src=URL data-src=URL>",
            "<a href=x data-href=URL>", "<style type=text/x>url(URL)</style>", "<a href=x href=URL>", "",
        ]
    )
    func untouched(_ template: String) throws {
        #expect(try Self.html(template.replacing("URL", with: "https://www.example.com/")) == nil)
    }

    @Test(
        "It uses the scheme and origin of the base, which the first base element may change",
        arguments: [
            ("http://www.example.com/", "<a href=//www.example.com/>", "<a href=http://127.0.0.1:2/>"),
            (
                "http://www.example.com/", "<base href=https://other.example/><a href=//www.example.com/>",
                "<base href=https://other.example/><a href=http://127.0.0.1:1/>"
            ),
            (
                "https://www.example.com/", "<base href=x><base href=http://y/><a href=//www.example.com>",
                "<base href=x><base href=http://y/><a href=http://127.0.0.1:1>"
            ),
        ]
    )
    func base(document: String, written: String, expected: String) throws {
        #expect(try Self.html(written, of: document) == expected)
    }

    @Test(
        "It removes policies, and the integrity of style sheets that are served",
        arguments: [
            ("a<meta http-equiv=content-security-policy content=x>b", "ab"),
            ("<META content=x HTTP-EQUIV='Content-Security-Policy-Report-Only'/>", ""),
            (
                "<iframe srcdoc='<meta http-equiv=Content-Security-Policy content=x>y'></iframe>",
                "<iframe srcdoc='y'></iframe>"
            ),
            ("<link rel=stylesheet href=/a integrity='x' crossorigin>", "<link rel=stylesheet href=/a  crossorigin>"),
            ("<link integrity=x integrity=y rel='a Stylesheet' href=a>", "<link   rel='a Stylesheet' href=a>"),
            ("<link rel=preload as=style href=a integrity=x>", "<link rel=preload as=style href=a >"),
            (
                "<link rel=stylesheet href=https://cdn.example:8443/a integrity=x>",
                "<link rel=stylesheet href=http://127.0.0.1:3/a >"
            ),
            (
                "<base href=//www.example.com/><link rel=stylesheet href=a integrity=x>",
                "<base href=http://127.0.0.1:1/><link rel=stylesheet href=a >"
            ),
            ("<link rel=stylesheet href=https://other.example/a integrity=x>", nil),
            ("<base href=https://other.example/><link rel=stylesheet href=a integrity=x>", nil),
            ("<link rel=stylesheet href=data:text/css, integrity=x>", nil),
            ("<link rel=modulepreload href=a integrity=x><script src=a integrity=x></script>", nil),
            ("<link rel=preload as=script href=a integrity=x>", nil),
            ("<meta name=content-security-policy content=x>", nil),
        ] as [(String, String?)]
    )
    func removed(written: String, expected: String?) throws {
        #expect(try Self.html(written) == expected)
    }

    // MARK: CSS and charsets

    @Test("It replaces a style sheet's URLs, whatever its other bytes are")
    func css() throws {
        let written =
            Data([0xFF, 0x80]) + Data("@import '//www.example.com/a';b{c:image-set('//www.example.com/é' 1x)".utf8)
        let expected =
            Data([0xFF, 0x80]) + Data("@import 'http://127.0.0.1:1/a';b{c:image-set('http://127.0.0.1:1/é' 1x)".utf8)
        #expect(try Self.rewriter().css(written, charset: "windows-1252") == expected)
        #expect(try Self.rewriter().css(Data("a{b:url(c)}'//www.example.com'".utf8), charset: nil) == nil)
    }

    @Test(
        "It reads a host in the document's charset",
        arguments: [
            ("ISO-8859-1", [0x62, 0xFC] + Array("cher".utf8), 4), ("Shift_JIS", [0x97, 0xE1, 0x82, 0xA6], 6),
        ] as [(String, [UInt8], Int)]
    )
    func hostCharset(charset: String, host: [UInt8], port: Int) throws {
        let path = Data(".example/".utf8) + host + Data(">".utf8)
        let html = Data("<a href=//".utf8) + host + path
        let expected = Data("<a href=http://127.0.0.1:\(port)".utf8) + path.dropFirst(8)
        #expect(try Self.rewriter().html(html, charset: charset) == expected)
    }

    @Test(
        "It leaves documents in charsets without ASCII",
        arguments: [
            ("utf-16", []), ("UTF-16LE", []), ("utf-16be", []), (nil, [0xFF, 0xFE]), ("utf-8", [0xFE, 0xFF]),
            ("iso-2022-jp", []),
        ] as [(String?, [UInt8])]
    )
    func utf16(charset: String?, mark: [UInt8]) throws {
        let html = Data(mark) + Data("<a href=//www.example.com/>".utf8)
        #expect(try Self.rewriter().html(html, charset: charset) == nil)
        #expect(try Self.rewriter().css(Data(mark) + Data("@import '//www.example.com'".utf8), charset: charset) == nil)
        // A UTF-8 byte order mark takes precedence over a name.
        #expect(
            try Self.rewriter().html(Data([0xEF, 0xBB, 0xBF]) + html.dropFirst(mark.count), charset: "utf-16") != nil
        )
    }

    private static func html(_ written: String, of document: String = "https://www.example.com/a/b") throws -> String? {
        let rewritten = try rewriter(document).html(Data(written.utf8), charset: nil)
        return rewritten.map { String(decoding: $0, as: UTF8.self) }
    }
}
