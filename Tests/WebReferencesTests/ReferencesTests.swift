import Foundation
import TestSupport
import Testing

@testable import WebReferences

@Suite("References in a page", .values)
struct ReferencesTests {
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
        "All references of a page are found",
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
            Case("<noscript><img src=a></noscript><iframe src=x><img src=b></iframe><img src=c>", "x", "c"),
            Case("<svg><title/><style/><image href=a /><image xlink:href=b></svg><img src=c>", "a", "b", "c"),
            Case("<svg></svg><title/><img src=a>"),
            Case("<svg><title><a href=a></a></title><script><use href=b></script></svg>", "a", "b"),
            Case("<svg><style>p{x:url(a)}<![CDATA[</style>p>a{x:url(b)}]]></style><use href=c></svg>", "a", "b", "c"),
            Case("<svg><![CDATA[x><use href=a>]]><use href=b></svg><![CDATA[<img src=c>]]><img src=d>", "b", "d"),
            Case("<svg><p><textarea><image href=a></textarea>"),
            Case("<svg><foreignObject><textarea><img src=a></textarea><iframe src=b><a href=c></iframe>", "b"),
            Case(
                "<svg><path fill='url(#a)' style='mask: url(b)'><a href=c ping=d></svg><p fill='url(e)'>",
                "#a",
                "b",
                "c"
            ),
            Case("<math><mi href=a><textarea><img src=b></textarea></mi><title><p><img src=c>", "c"),
            Case("<math><style>x{y:url(a)}</style><script>x</script></math>"),
            Case("<svg><font color=x><image src=a><image href=b></svg>", "a"),
            Case("<svg><font FACE><img src=a></svg><math><font size=1><img src=b></math>", "a", "b"),
            Case("<svg><font color=x><style/><img src=a></style></svg><svg><font><style/><image href=b></svg>", "b"),
            Case("<svg><desc><svg></p><image src=a></desc><image href=b></svg>", "a", "b"),
            Case("<svg></br><image src=a></svg><svg></b><image href=b></svg>", "a", "b"),
            Case(
                "<math><annotation-xml><style/><svg><image href=a></svg></annotation-xml></math><img src=b>",
                "a",
                "b"
            ),
            Case("<math><annotation-xml encoding=Text/HTML><style/><img src=a></style><img src=b>", "b"),
            Case("<svg><title><![CDATA[x><a href=a>]]></title><desc><b><![CDATA[x><a href=b>]]></desc></svg>", "b"),
            Case("<image src=a srcset='b 1x, c 2x'>", "a", "b", "c"),
            Case("<plaintext><img src=a></plaintext><img src=b>"),
            Case("<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>", "a", "b", "c"),
            Case(
                "<video src=a poster=b><source src=c><track src=d></video><audio src=e></audio>",
                "a",
                "b",
                "c",
                "d",
                "e"
            ),
            Case(
                "<a href=a ping='b  c'><iframe src=b></iframe><form action=c><button formaction=d>",
                "b",
                "c",
                "a",
                "b",
                "c",
                "d"
            ),
            Case("<frameset><frame src=a></frameset><area href=b><base href=c><html manifest=d>", "a", "b", "c", "d"),
            Case("<q cite=a><img longdesc=b><meta property='og:image' content=c><div src=d href=e>"),
            Case("<iframe src=a srcdoc='<img src=b>&lt;img src=&quot;c&quot;&gt;'></iframe>", "b", "c", "a"),
            Case("<iframe srcdoc='&lt;p style=&apos;x:url(&amp;quot;a&amp;quot;)&apos;>'></iframe>", "a"),
            Case("<meta http-equiv=Refresh content='5; URL = \"a\" b'><meta name=refresh content='0;b'>", "a"),
            Case("<input type=image src=a><table background=b><td background=c>", "a", "b", "c"),
            Case("<img srcset='a 1x, b.png?x,y 2x,c'>", "a", "b.png?x,y", "c"),
            Case("<img srcset=' ,a, b (x,y) 2x ,, c,d'>", "a", "b", "c,d"),
            Case("<img srcset=',, ,'><img srcset>"),
            Case("<source srcset=a.webp&#32;1x,b>", "a.webp", "b"),
            Case("<p style='background: url(a.png)'>", "a.png"),
            Case("<p style=\"background: url(&quot;a&amp;b&quot;)\">", "a&b"),
            Case("<p style=background:url(a.png)>", "a.png"),
            Case("<style>@import 'a'; p { background: url(b) }</style><p>url(c)</p>", "a", "b"),
            Case("<meta http-equiv=refresh content='0 urls'><meta http-equiv=refresh content='0x;a'>", "urls"),
            Case("<style><!-- p { background: url(a) } --></style>", "a"),
            Case("<style type=Text/CSS>x{y:url(a)}</style><style type=text/less>x{y:url(b)}</style>", "a"),
            Case("<base href=x><img src=a>", "x", "a"),
            Case(""), Case("<"), Case("<i"), Case("</"), Case("<!"), Case("<!-"), Case("&"),
        ]
    )
    func references(_ page: Case) {
        let references = References(SourceText(Array(page.html.utf8)), as: .html)
        #expect(references.all.map(\.url.string) == page.urls)
    }

    @Test(
        "Only a style sheet's integrity is found",
        arguments: [
            ("<link rel='Alternate StyleSheet' href=a integrity=i>", true),
            ("<link rel=preload as=Style href=a integrity=i>", true),
            ("<link rel=preload as=script href=a integrity=i>", false),
            ("<link rel=prefetch as=style href=a integrity=i>", false),
            ("<link as=style href=a integrity=i>", false), ("<link rel=modulepreload href=a integrity=i>", false),
            ("<script src=a integrity=i></script>", false), ("<script type=Module src=a integrity=i></script>", false),
        ]
    )
    func integrity(html: String, isFound: Bool) {
        let references = References(SourceText(Array(html.utf8)), as: .html).all
        #expect(references.map { !$0.integrity.isEmpty } == [isFound])
    }

    @Test("A URL's place is known without its quotes, even if it's escaped twice")
    func places() {
        let html = Array(
            """
            <img src="a&amp;b" srcset='&#97;b 1x, c&amp;d 2x' style="x: url( &quot;e&quot; )">\
            <p style='x: url("\\66&apos;&#32;g")'><iframe srcdoc='&lt;a href=&quot;&amp;amp;h&quot;&gt;'></iframe>\
            <meta http-equiv=refresh content="0; url=&apos;&#105;j&apos;">
            """.utf8
        )
        let references = References(SourceText(html), as: .html).all
        let written = references.map { reference in
            String(decoding: html[reference.url.place(of: 0..<reference.url.bytes.count)], as: UTF8.self)
        }
        #expect(written == ["a&amp;b", "&#97;b", "c&amp;d", "e", "\\66&apos;&#32;g", "&amp;amp;h", "&#105;j"])
        let meant = references.map(\.url.string)
        #expect(meant == ["a&b", "ab", "c&d", "e", "f' g", "&h", "ij"])
    }

    @Test("The first base counts, and policies and style sheets' integrity are found")
    func rest() {
        let html = Array(
            """
            <base target=_top><base href='/b/'><base href=c>\
            <meta http-equiv=Content-Security-Policy content="default-src 'none'"><script src=s integrity=i></script>\
            <link rel=stylesheet href=a integrity=j integrity='k'><script type=application/ld+json>{}</script>
            """.utf8
        )
        let references = References(SourceText(html), as: .html)
        #expect(references.base?.string == "/b/")
        let policies = references.policies.map { String(decoding: html[$0], as: UTF8.self) }
        #expect(policies == ["http-equiv=Content-Security-Policy"])
        let integrity = references.all.flatMap(\.integrity).map { String(decoding: html[$0], as: UTF8.self) }
        #expect(integrity == ["integrity=j", "integrity='k'"])
    }

    @Test("Pages in srcdoc attributes are read up to four levels deep")
    func deep() {
        var html = "<img src=a>"
        let found = (0...5).map { _ in
            defer {
                let escaped = html.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
                html = "<iframe srcdoc=\"\(escaped)\"></iframe>"
            }
            return References(SourceText(Array(html.utf8)), as: .html).all.count
        }
        #expect(found == [1, 1, 1, 1, 1, 0])
    }

    @Test("Any bytes are accepted, and every place is inside the document")
    func anything() {
        let pieces = [
            "<", ">", "</", "<!--", "-->", "--!>", "<script", "</script>", "<style>", "</style>", "\"", "'", "=", "/",
            " ",
            "img", " src=", " srcset=", " style=", "url(", ")", "\\", "&#", "&amp;", "x41;", ",", "a", "@import", "/*",
            "*/",
            "\u{0}", "é", "\n", "<svg>", "</svg>", "<base href=", "<link rel=icon href=", " referrerpolicy=no-referrer",
            "<script type=importmap>", ":",
            "{", "}", ";",
            "<?", "?>", "<!DOCTYPE", "[", "]]>", "<![CDATA[", " xmlns='http://www.w3.org/1999/xhtml'", "/>",
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
            let text = SourceText(html)
            for references in [.html, .xhtml, .css].map({ References(text, as: $0) }) {
                let texts = references.all.map(\.url) + references.referrerPolicies
                let places = texts.map { $0.place(of: 0..<$0.bytes.count) } + references.policies
                #expect(places.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= html.count }, "\(html)")
            }
        }
    }
}
