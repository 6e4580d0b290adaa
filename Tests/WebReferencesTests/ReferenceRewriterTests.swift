import Foundation
import TestSupport
import Testing

@testable import WebReferences

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("The reference rewriter", .values)
struct ReferenceRewriterTests {
    /// The known origins, and what replaces each.
    private static let origins = [
        "https://www.example.com": "http://127.0.0.1:1", "http://www.example.com": "http://127.0.0.1:2",
        "https://cdn.example:8443": "http://127.0.0.1:3", "https://xn--bcher-kva.example": "http://127.0.0.1:4",
        "https://[::1]": "http://127.0.0.1:5", "https://xn--r8jz45g.example": "http://127.0.0.1:6",
        "https://xn--wgv71a.example": "http://127.0.0.1:7",
    ]

    private static func rewriter(_ document: String = "https://www.example.com/a/b.html") throws -> ReferenceRewriter {
        ReferenceRewriter(of: try #require(WebOrigin(of: document))) { origins[$0.description] }
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
            "", "/", "a", "?q", "#f", "/a//www.example.com", "a://www.example.com", "//",
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

    @Test(
        "It keeps what a scheme without two slashes means, which depends on the scheme of the base",
        arguments: [
            ("https:k.png", "http:k.png"), ("https:/j.png", "http:/j.png"), ("ht\ntps\t:k.png", "http\t:k.png"),
            ("https:", "http:"), ("https:a:b", "http:a:b"), ("https:\\j.png", "http:\\j.png"), ("https:?q", "http:?q"),
            ("https:www.example.com/", "http:www.example.com/"), ("http:other.example", "http://other.example"),
            ("http:/user@other.example/", "http:///user@other.example/"), ("http:", "http://"),
        ]
    )
    func missingSlashes(written: String, expected: String) throws {
        #expect(try Self.rewriter().url(written) == expected)
        let other = try Self.rewriter("http://www.example.com/")
        #expect(other.url(written) == (written.contains("www") ? "http://127.0.0.1:1/" : nil))
        // Relative to a base that isn't served, it stays.
        let html = "<base href=https://other.example/><a href=\"https:k.png\">"
        #expect(try Self.html(html) == nil)
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
        "It disables policies, and the integrity of style sheets that are served",
        arguments: [
            (
                "a<meta http-equiv=content-security-policy content=x>b",
                "a<meta data-http-equiv=content-security-policy content=x>b"
            ),
            (
                "<META content=x HTTP-EQUIV='Content-Security-Policy-Report-Only'/>",
                "<META content=x data-HTTP-EQUIV='Content-Security-Policy-Report-Only'/>"
            ),
            (
                "<<meta http-equiv=content-security-policy http-equiv=refresh>script>",
                "<<meta data-http-equiv=content-security-policy data-http-equiv=refresh>script>"
            ),
            (
                "<iframe srcdoc='<meta http-equiv=Content-Security-Policy content=x>y'></iframe>",
                "<iframe srcdoc='<meta data-http-equiv=Content-Security-Policy content=x>y'></iframe>"
            ),
            (
                "<link rel=stylesheet href=/a integrity='x' crossorigin>",
                "<link rel=stylesheet href=/a data-integrity='x' crossorigin>"
            ),
            (
                "<link integrity=x integrity=y rel='a Stylesheet' href=a>",
                "<link data-integrity=x data-integrity=y rel='a Stylesheet' href=a>"
            ),
            (
                "<link rel=preload as=style href=a integrity=x>",
                "<link rel=preload as=style href=a data-integrity=x>"
            ),
            (
                "<link rel=stylesheet href=https://cdn.example:8443/a integrity=x>",
                "<link rel=stylesheet href=http://127.0.0.1:3/a data-integrity=x>"
            ),
            (
                "<base href=//www.example.com/><link rel=stylesheet href=a integrity=x>",
                "<base href=http://127.0.0.1:1/><link rel=stylesheet href=a data-integrity=x>"
            ),
            (
                "<meta name=referrer content=no-referrer><p>",
                "<meta name=referrer content=strict-origin-when-cross-origin><p>"
            ),
            (
                "<META content='Same&#45;Origin' name=Referrer>",
                "<META content='strict-origin-when-cross-origin' name=Referrer>"
            ),
            ("<meta name=referrer content=never>", "<meta name=referrer content=strict-origin-when-cross-origin>"),
            (
                "<a referrerpolicy=\"no-referrer\">a</a><script referrerpolicy=same-origin></script>",
                "<a referrerpolicy=\"strict-origin-when-cross-origin\">a</a>"
                    + "<script referrerpolicy=strict-origin-when-cross-origin></script>"
            ),
            (
                "<iframe srcdoc='<meta name=referrer content=no-referrer>'></iframe>",
                "<iframe srcdoc='<meta name=referrer content=strict-origin-when-cross-origin>'></iframe>"
            ),
            ("<form rel=noreferrer action=a>", "<form rel=noopener action=a>"),
            ("<FORM REL='external No&#82;eferrer help'>", "<FORM REL='external noopener help'>"),
            ("<form rel=noopener><input rel=noreferrer>", nil),
            ("<meta name=referrer content=origin><img referrerpolicy=unsafe-url>", nil),
            ("<meta name=description content=no-referrer><a rel=noreferrer href=a>", nil),
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

    @Test(
        "It replaces the URLs that an import map leads to, and the scopes, but not what scripts import",
        arguments: [
            (#"{"imports": {"vue": "URL/vue.js", "a/": "./a/"}}"#, true),
            (#"{ "scopes" : { "URL/" : { "b" : "URL/b.js" } } }"#, true),
            (#"{"imports": {"a": "\/\/www.example.com/a.js", "b": "URL/\"b"}}"#, true),
            (#"{"imports": {"https://www.example.com/a.js": "URL/b.js"}}"#, true),
            (#"{"imports": {"https://www.example.com/a.js": "/b.js", "c": null}}"#, false),
            (#"{"imports": {"a": "https://other.example/a.js", "b": "x"}} {"#, false), (#"{"a": "\"#, false),
            ("", false),
        ]
    )
    func importMap(_ template: String, isRewritten: Bool) throws {
        let script = "<script type=importmap>\(template)</script>"
        let written = script.replacing("URL", with: "https://www.example.com")
        let expected = script.replacing("URL", with: "http://127.0.0.1:1")
            .replacing(#"\/\/www.example.com"#, with: "http://127.0.0.1:1")
        #expect(try Self.html(written) == (isRewritten ? expected : nil))
    }

    // MARK: XHTML

    /// The beginning of an XHTML document's root element, with a prefix for each namespace.
    private static let root = """
        <html xmlns="http://www.w3.org/1999/xhtml" xmlns:h='http://www.w3.org/1999/xhtml' \
        xmlns:svg="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink" xmlns:o="o">
        """

    @Test(
        "It replaces every URL in XHTML, where any element can be one tag and namespaces name elements",
        arguments: [
            "<script src='URL'/><img src='URL'/>", "<title/><img src='URL'/>", "<style/><img src='URL'/>",
            "<textarea/><iframe src='URL'/><noscript/><xmp/><plaintext/><img src='URL'/>", "<h:img src='URL'/>",
            "<x:img xmlns:x='http://www.w3.org/1999/xhtml' src='URL'/>", "<o:a><img src='URL'></img></o:a>",
            "<o:a xmlns='o'><b/></o:a><img src='URL'/>", "<script>a &lt;b&gt;</script><img src='URL'/>",
            "<script><![CDATA[ '<a> </script> ' ]]></script><img src='URL'/>", "<p title='>'><img src = \"URL\" /></p>",
            "<style>x{y:url(&quot;URL&quot;)}</style>", "<style><![CDATA[@import 'URL';]]> x{y:url(URL)}</style>",
            "<style><!-- x{y:url(//www.example.com)} --> x{y:url(URL)}</style>", "<h:style>@import 'URL';</h:style>",
            "<p style='x:url(URL)'/>", "<svg:image href='URL' l:href='URL' fill='url(URL)'/>",
            "<svg:svg><svg:feImage href='URL'/><svg:style>x{y:url(URL)}</svg:style></svg:svg>",
            "<svg xmlns='http://www.w3.org/2000/svg'><use href='URL'/></svg><img src='URL'/>",
            "<iframe srcdoc=\"&lt;title/>&lt;/title>&lt;img src=URL>\"/>",
            "<p><img src='URL'/></p><é/><img src='URL'/>",
            "<?x ' > ?><img src='URL'/><!-- \" --><img src='URL'/>",
        ]
    )
    func xhtml(_ template: String) throws {
        let document =
            "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a \">]'\"> <!-- ' --> ]>\(Self.root)\(template)</html>"
        let written = document.replacing("URL", with: "https://www.example.com/x?a=1&amp;b")
        #expect(
            try Self.xhtml(written) == written.replacing("https://www.example.com", with: "http://127.0.0.1:1")
        )
        try Self.expectIsWellFormed(written)
    }

    @Test("It replaces the URL of a style sheet before the root element")
    func xmlStyleSheet() throws {
        let written = "<?xml-stylesheet type='text/css' href='//www.example.com/a'?><?xml-x y?>"
        let root = "<html xmlns='http://www.w3.org/1999/xhtml'><?xml-stylesheet href='//www.example.com/a'?></html>"
        let expected = "<?xml-stylesheet type='text/css' href='http://127.0.0.1:1/a'?><?xml-x y?>"
        #expect(try Self.xhtml(written + root) == expected + root)
    }

    @Test(
        "It leaves what isn't an element of HTML or SVG in XHTML",
        arguments: [
            "<IMG src='URL'/>", "<img SRC='URL'/>", "<o:img src='URL'/>", "<img o:src='URL'/>", "<svg:img src='URL'/>",
            "<img xmlns='' src='URL'/>", "<svg:use o:href='URL'/>", "<!-- <img src='URL'/> -->",
            "<o:p style='x:url(URL)'/>",
            "<![CDATA[<img src='URL'/>]]>", "<script><![CDATA[<img src='URL'/>]]></script>", "<?x <img src='URL'/>?>",
            "<x:a xmlns:x='http://www.w3.org/1999/xhtml'/><!-- x isn't bound here: --><o:b><o:img src='URL'/></o:b>",
        ]
    )
    func untouchedXHTML(_ template: String) throws {
        let written = "\(Self.root)\(template)</html>".replacing("URL", with: "https://www.example.com/")
        #expect(try Self.xhtml(written) == nil)
        try Self.expectIsWellFormed(written)
    }

    @Test("An XHTML document without policies and integrity is well-formed")
    func wellFormed() throws {
        let written = """
            \(Self.root)<meta http-equiv="Content-Security-Policy" content="x"></meta><meta \
            http-equiv='content-security-policy' content='x'/><link rel="stylesheet" href="/a" integrity="x"/></html>
            """
        let expected = written.replacing("http-equiv", with: "data-http-equiv")
            .replacing("integrity=", with: "data-integrity=")
        #expect(try Self.xhtml(written) == expected)
        try Self.expectIsWellFormed(expected)
    }

    private static func xhtml(_ written: String) throws -> String? {
        let rewritten = try rewriter().rewritten(Data(written.utf8), as: .xhtml, charset: nil)
        return rewritten.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func expectIsWellFormed(_ document: String) throws {
        let parser = XMLParser(data: Data(document.utf8))
        parser.shouldProcessNamespaces = true
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
    }

    // MARK: CSS and charsets

    @Test("It replaces a style sheet's URLs, whatever its other bytes are")
    func css() throws {
        let written =
            Data([0xFF, 0x80]) + Data("@import '//www.example.com/a';b{c:image-set('//www.example.com/é' 1x)".utf8)
        let expected =
            Data([0xFF, 0x80]) + Data("@import 'http://127.0.0.1:1/a';b{c:image-set('http://127.0.0.1:1/é' 1x)".utf8)
        #expect(try Self.rewriter().rewritten(written, as: .css, charset: "windows-1252") == expected)
        #expect(
            try Self.rewriter().rewritten(Data("a{b:url(c)}'//www.example.com'".utf8), as: .css, charset: nil) == nil
        )
    }

    @Test(
        "It reads a host in the document's charset",
        arguments: [
            ("ISO-8859-1", [0x62, 0xFC] + Array("cher".utf8), 4), ("Shift_JIS", [0x97, 0xE1, 0x82, 0xA6], 6),
            ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], 7), ("GB2312", [0xC8, 0xD5, 0xB1, 0xBE], 7),
            ("big5", [0xA4, 0xE9, 0xA5, 0xBB], 7),
        ] as [(String, [UInt8], Int)]
    )
    func hostCharset(charset: String, host: [UInt8], port: Int) throws {
        let path = Data(".example/".utf8) + host + Data(">".utf8)
        let html = Data("<a href=//".utf8) + host + path
        let expected = Data("<a href=http://127.0.0.1:\(port)".utf8) + path.dropFirst(8)
        #expect(try Self.rewriter().rewritten(html, as: .html, charset: charset) == expected)
    }

    /// Charsets in which the second byte of a character can be a backslash, and such a character.
    private static let doubleByteCharacters: [(charset: String, character: [UInt8])] = [
        ("Shift_JIS", [0x95, 0x5C]), ("windows-31j", [0x83, 0x5C]), ("GBK", [0x95, 0x5C]), ("gb2312", [0xFE, 0x5C]),
        ("gb18030", [0x81, 0x30, 0x81, 0x35, 0x81, 0x5C]), ("Big5", [0xA5, 0x5C]),
    ]

    @Test("A character's second byte is never read as ASCII", arguments: doubleByteCharacters)
    func doubleByte(charset: String, character: [UInt8]) throws {
        let css = "a{b:'C'} c{d:url(//www.example.com/C)} 'url(//www.example.com/)' e{f:url('//www.example.com/C')}"
        func data(_ text: String) -> Data {
            Data(
                text.split(separator: "C", omittingEmptySubsequences: false).map { Data($0.utf8) }.joined(
                    separator: character
                )
            )
        }
        let expected = css.replacing("(//www.example.com/C", with: "(http://127.0.0.1:1/C")
            .replacing("('//www.example.com", with: "('http://127.0.0.1:1")
        let rewriter = try Self.rewriter()
        #expect(rewriter.rewritten(data(css), as: .css, charset: charset) == data(expected))
        // The style sheet or the page names its charset itself.
        let rule = "@charset \"\(charset.lowercased())\";"
        #expect(rewriter.rewritten(data(rule + css), as: .css, charset: nil) == data(rule + expected))
        let page = "<p style=\"\(css)\"><style>\(css)</style>"
        let rewritten = "<p style=\"\(expected)\"><style>\(expected)</style>"
        for meta in [
            "<meta charset='\(charset.lowercased())'>",
            "<meta http-equiv=\"content-type\" content='a/b;charset=\(charset.lowercased())'>",
        ] {
            #expect(rewriter.rewritten(data(meta + page), as: .html, charset: nil) == data(meta + rewritten))
        }
        let xml = "<?xml version='1.0' encoding='\(charset.lowercased())'?><html xmlns='http://www.w3.org/1999/xhtml'>"
        let body = "<p style=\"\(css)\"/></html>"
        let xhtml = "<p style=\"\(expected)\"/></html>"
        #expect(rewriter.rewritten(data(xml + body), as: .xhtml, charset: nil) == data(xml + xhtml))
    }

    @Test(
        "Bytes that aren't a character of the charset end before the next ASCII character",
        arguments: [
            ("shift_jis", [0x95]), ("shift_jis", [0xB1]), ("gbk", [0x95]), ("gbk", [0x81, 0x30]), ("gbk", [0x80]),
            ("big5", [0xA5]), ("big5", [0xFF]), ("shift_jis", []),
        ] as [(String, [UInt8])]
    )
    func noCharacter(charset: String, bytes: [UInt8]) throws {
        let (written, rest) = (Data("a{b:'".utf8) + bytes, Data("' url(http://127.0.0.1:1/)".utf8))
        let css = written + Data("' url(//www.example.com/)".utf8)
        #expect(try Self.rewriter().rewritten(css, as: .css, charset: charset) == written + rest)
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
        #expect(try Self.rewriter().rewritten(html, as: .html, charset: charset) == nil)
        #expect(
            try Self.rewriter().rewritten(
                Data(mark) + Data("@import '//www.example.com'".utf8),
                as: .css,
                charset: charset
            ) == nil
        )
        // A UTF-8 byte order mark takes precedence over a name.
        #expect(
            try Self.rewriter().rewritten(
                Data([0xEF, 0xBB, 0xBF]) + html.dropFirst(mark.count),
                as: .html,
                charset: "utf-16"
            ) != nil
        )
    }

    private static func html(_ written: String, of document: String = "https://www.example.com/a/b") throws -> String? {
        let rewritten = try rewriter(document).rewritten(Data(written.utf8), as: .html, charset: nil)
        return rewritten.map { String(decoding: $0, as: UTF8.self) }
    }
}
