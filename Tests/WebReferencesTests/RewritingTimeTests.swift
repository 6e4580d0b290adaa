import Foundation
import TestSupport
import Testing

@testable import WebReferences

@Suite("Documents that are meant to take long", .values)
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
            "<script type=module>import'./a';", "import'./a';",
        ]
    )
    func time(piece: String) throws {
        let document = try #require(URL(string: "https://h/"))
        let rewriter = ReferenceRewriter(document: document) { _ in "http://127.0.0.1:1" }
        func seconds(_ count: Int) -> Double {
            let text = Data(String(repeating: piece, count: count).utf8)
            return processorTime {
                _ = rewriter.html(text, charset: nil)
                _ = rewriter.css(text, charset: nil)
                _ = References(module: Array(text))
            }
        }
        // In linear time, ten times as much takes ten times as long. In quadratic time, it takes a hundred times as long. On a busy
        // machine, one attempt may fail.
        #expect((0..<3).contains { _ in seconds(20_000) < 40 * seconds(2_000) + 0.05 })
    }
}
