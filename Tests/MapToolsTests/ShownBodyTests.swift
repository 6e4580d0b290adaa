import Foundation
import TestSupport
import Testing

@testable import MapTools

@Suite("A body in an explanation", .values)
struct ShownBodyTests {
    @Test(
        "Credentials are replaced, and nothing else is",
        arguments: [
            (#"{"card":{"number":{"token":"x"},"n":4}}"#, #"{"card":{"number":"redacted","n":4}}"#),
            (#"{"card":{"number":"Bearer abcdefghijklmnop"}}"#, #"{"card":{"number":"redacted"}}"#),
            (#"{"card":{"pan":{"cvc":1,"number":"4"}}}"#, #"{"card":{"pan":"redacted"}}"#),
            (#"{"number":{"token":"x"}}"#, #"{"number":{"token":"redacted"}}"#),
            (#"{"user":"ada", "password" : "s3cr3t" }"#, #"{"user":"ada", "password" : "redacted" }"#),
            (#"{"tokens":{"access_token":["s3cr3t"]},"n":1.50}"#, #"{"tokens":"redacted","n":1.50}"#),
            (
                #"[{"id":"password","value":{"a":"s3cr3t"}},{"id":"x"}]"#,
                #"[{"id":"password","value":"redacted"},{"id":"x"}]"#
            ),
            (#"{"note":"Bearer s3cr3t","é":"\u00e9"}"#, #"{"note":"redacted","é":"\u00e9"}"#),
            (#"{"query":"{ login(password: \"s3cr3t\") }"}"#, #"{"query":"redacted"}"#),
            (#""Bearer s3cr3t""#, #""redacted""#),
            ("user=ada&access_token=s3cr3t&a=Bearer+s3cr3t", "user=ada&access_token=redacted&a=redacted"),
            ("<password>s3cr3t</password>", "redacted"),
            ("Content-Disposition: form-data; name=\"pin\"\n\n1", "redacted"),
            ("hello, you", "hello, you"),
        ]
    )
    func secrets(_ body: String, _ shown: String) { #expect(ShownBody.text(of: Data(body.utf8)) == shown) }

    @Test("A body that isn't text has none", arguments: [Data([0x89, 0xFF]), Data([0x61, 0])])
    func binary(_ body: Data) { #expect(ShownBody.text(of: body) == nil) }
}
