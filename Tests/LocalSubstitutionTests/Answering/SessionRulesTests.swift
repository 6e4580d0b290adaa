import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The rule for unmatched requests", .values)
struct SessionRulesTests {
    static let rows: [(allowed: [String], url: String, fails: Bool)] = [
        ([], "https://h/a", true),
        (["https://h/a"], "https://h/a", false),
        (["https://h/a"], "https://h/a#part", false),
        (["https://h/a"], "https://H:443/b/../a", false),
        (["https://H:443/b/../a"], "https://h/a", false),
        (["https://h/a"], "https://h/a?v=1", true),
        (["https://h/a"], "http://h/a", true),
        (["https://h/a"], "https://h/a/", true),
        (["https://h/*"], "https://h/a/b?v=1", false),
        (["https://h/*"], "https://g/a", true),
        (["http://127.0.0.1:*/*"], "http://127.0.0.1:8080/a", false),
        (["http://127.0.0.1:*/*"], "http://127.0.0.2:8080/a", true),
        (["*://*.h/*"], "https://www.h/a", false),
        (["https://h/a", "https://g/*"], "https://g/b", false),
        (["https://h/a", "https://g/*"], "https://h/b", true),
        (["*://*/*"], "https://user:secret@h/a", true),
        (["*://*/*"], "ws://h/a", true),
    ]

    @Test("All fail except the allowed URLs: exact URLs in any spelling, and match patterns", arguments: rows)
    func allowed(_ allowed: [String], _ url: String, _ fails: Bool) throws {
        let rules = try SessionRules(.fail(allowing: allowed))
        #expect(rules.isStrict)
        #expect(rules.forbidsNetwork(to: try request(url)) == fails)
    }

    @Test("None fail if unmatched requests are loaded")
    func load() throws {
        let rules = try SessionRules(.load)
        #expect(!rules.isStrict)
        #expect(!rules.forbidsNetwork(to: try request("https://h/a")))
    }

    @Test(
        "An allowed URL that's neither a URL nor a match pattern is an error that names it",
        arguments: ["h/a", "", "*", "ftp://h/a", "https://user@h/a", "https://h/a#part", "https://*h/*", "https:///a"]
    )
    func invalid(_ allowed: String) throws {
        let error = try #require(throws: AttachmentError.self) {
            try SessionRules(.fail(allowing: ["https://h/a", allowed]))
        }
        #expect(error.kind == .invalidAllowedURL)
        #expect(error.description.hasPrefix("The allowed URL “\(allowed)” "))
        #expect(error.localizedDescription == error.description)
    }
}
