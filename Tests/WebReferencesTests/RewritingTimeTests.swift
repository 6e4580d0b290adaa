import Foundation
import TestSupport
import Testing

@testable import WebReferences

@Suite("Documents made to take long", .values)
struct RewritingTimeTests {
    @Test(
        "They take time in proportion to their size",
        arguments: [
            "<", "<!--", "<script>", "<script><!--", "<script><!--<script>", "<a ", "<img src='", "<img a=", "&", "&#",
            "-", "<img src=a ", "<style>url(", "<style>\"", "<style>/*", "<style>@import ", "\\", "</", "<svg>",
            "<svg></math>", "<svg><![CDATA[", "<svg><style>", "<p style='url(", "<img srcset='a,", "(", "url(",
            "url(//h) ",
            "image-set(", "\"a\n", "/*", "{", "<iframe/srcdoc=", "<iframe srcdoc='&lt;a href=//h>'>", "<a href=//h>",
            "<base href=//h>", "<a ping='a a a'>", "<meta http-equiv=refresh content='0;//h'>", "&amp", "url(\\",
        ]
    )
    func time(piece: String) throws {
        let rewriter = try Self.rewriter()
        #expect(
            takesLinearTime(from: 800, of: { Data(String(repeating: piece, count: $0).utf8) }) { text in
                _ = rewriter.rewritten(text, as: .html, charset: nil)
                _ = rewriter.rewritten(text, as: .css, charset: nil)
            }
        )
    }

    @Test(
        "XHTML and documents that must be decoded take time in proportion to their size",
        arguments: [
            "<a xmlns:x='", "<a xmlns:x='y'>", "<x:a>", "<style>\"", "<style><!--", "<style><![CDATA[", "<!DOCTYPE",
            "<!DOCTYPE[", "<?xml x='", "<style><?", "<a><style>&amp;</style></a>", "\u{955C}", "<img src='https:'/>",
        ]
    )
    func xhtml(piece: String) throws {
        let rewriter = try Self.rewriter()
        let root = Data("<a xmlns='http://www.w3.org/1999/xhtml'>".utf8)
        #expect(
            takesLinearTime(from: 800, of: { root + Data(String(repeating: piece, count: $0).utf8) }) { text in
                _ = rewriter.rewritten(text, as: .xhtml, charset: "gbk")
            }
        )
    }

    private static func rewriter() throws -> ReferenceRewriter {
        ReferenceRewriter(of: try #require(WebOrigin(of: "https://h/"))) { _ in "http://127.0.0.1:1" }
    }
}
