import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The rule for unmatched requests", .values)
struct SessionRulesTests {
    static let rows: [(exceptions: [String], url: String, fails: Bool)] = [
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

    @Test("All fail except the exceptions: exact URLs in any spelling, and match patterns", arguments: rows)
    func exceptions(_ exceptions: [String], _ url: String, _ fails: Bool) throws {
        let rules = try SessionRules(.fail(except: exceptions))
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
        "An exception that's neither a URL nor a match pattern is an error that names it",
        arguments: ["h/a", "", "*", "ftp://h/a", "https://user@h/a", "https://h/a#part", "https://*h/*", "https:///a"]
    )
    func invalid(_ exception: String) throws {
        let error = try #require(throws: AttachmentError.self) {
            try SessionRules(.fail(except: ["https://h/a", exception]))
        }
        #expect(error.kind == .invalidException)
        #expect(error.description.hasPrefix("The exception “\(exception)” "))
        #expect(error.localizedDescription == error.description)
    }
}
