import Foundation
import LocalSubstitution
import TestSupport
import Testing

@Suite("URLs in messages", .values)
struct ShownURLTests {
    @Test(
        "What may be a credential is replaced, and nothing else",
        arguments: [
            ("https://h/a?page=2&access_token=t0p&q=x", "https://h/a?page=2&access_token=redacted&q=x"),
            ("https://h/a?X-Amz-Signature=t0p;b=1", "https://h/a?X-Amz-Signature=redacted;b=1"),
            ("https://h/a?api%5Fkey=t0p%3D", "https://h/a?api%5Fkey=redacted"),
            ("https://h/a?u=http://x/?password=t0p", "https://h/a?u=http://x/?password=redacted"),
            ("https://h/a#access_token=t0p&state=1", "https://h/a#access_token=redacted&state=1"),
            ("https://h/a;jsessionid=t0p/b?c=/d", "https://h/a;jsessionid=redacted/b?c=/d"),
            ("https://ada:t0p@h:8080/a@b?c=d@e", "https://redacted@h:8080/a@b?c=d@e"),
            ("https://h/token=a/b?author=c&token#d", "https://h/token=a/b?author=c&token#d"),
            ("https://h/reset/eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln/x?a=b", "https://h/reset/redacted/x?a=b"),
            ("https://h/verify?eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln", "https://h/verify?redacted"),
            (
                "https://hooks.example/services/T0123456789/B0123456789/aBcDeFgHiJkLmNoPqRsTuVwX?a=b",
                "https://hooks.example/services/T0123456789/B0123456789/redacted?a=b"
            ),
            (
                "https://h/api/webhooks/123456789012345678/aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789/slack",
                "https://h/api/webhooks/123456789012345678/redacted/slack"
            ),
            (
                "https://h/bot123456789:aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678/sendMessage",
                "https://h/redacted/sendMessage"
            ),
            ("https://h/services/a/b/c/", "https://h/services/a/b/c/"),
            ("https://h", "https://h"), ("https://h/?", "https://h/?"), ("data:,a", "data:,a"),
        ]
    )
    func replaced(_ url: String, _ shown: String) {
        #expect(ShownURL(URL(string: url)).text == shown)
    }

    @Test(
        "A key is shown as written, except for what may be a credential",
        arguments: [
            ("*://*:*/*", "*://*:*/*"), ("*://*.h/a b?token=s3cr3t&q=*", "*://*.h/a b?token=redacted&q=*"),
            ("https://h/a?token=*", "https://h/a?token=*"), ("https://h/ä?pin=12 34", "https://h/ä?pin=redacted"),
        ]
    )
    func keys(_ key: String, _ shown: String) { #expect(ShownURL(key: key).text == shown) }
}
