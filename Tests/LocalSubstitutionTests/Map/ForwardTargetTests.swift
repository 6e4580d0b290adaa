import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Forwarding targets", .values)
struct ForwardTargetTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let key: String
        let target: String
        let request: String
        /// The URL, or a part of the obstacle's message.
        let expected: String

        init(_ key: String, _ target: String, _ request: String, _ expected: String) {
            (self.key, self.target, self.request, self.expected) = (key, target, request, expected)
        }

        var testDescription: String { "\(key) → \(target): \(request)" }
    }

    private func filled(_ key: String, _ target: String, _ request: String) throws -> ForwardTarget.Filled {
        let url = try NormalizedURL(request)
        var captures: [ArraySlice<UInt8>] = []
        if MapKey.isPattern(key) {
            var patterns = MatchPattern.Index()
            patterns.insert(try MatchPattern(key), number: 0)
            captures = try #require(patterns.matches(url, ignoring: nil).first?.captures)
        }
        return try ForwardTarget(target).filled(with: captures, for: url)
    }

    @Test(
        arguments: [
            Row("https://h/v2/*", "http://l:80/*", "https://h/v2/a/b", "http://l/a/b"),
            Row("https://h/v2/*", "http://l:8080/api/*", "https://h/v2/", "http://l:8080/api/"),
            Row("https://h/v2/*", "http://l", "https://h/v2/a", "http://l/"),
            Row("https://h/v2/*", "http://l/?x=1", "https://h/v2/a", "http://l/?x=1"),
            Row("https://h/*/*", "http://l/*?k=1", "https://h/a/b", "http://l/a?k=1"),
            Row("https://h/*/x/*", "http://l/*/y/*.json", "https://h/1/x/2/3", "http://l/1/y/2/3.json"),
            Row("https://h/*", "http://l/*", "https://h/a?b=1&c=%26", "http://l/a?b=1&c=%26"),
            Row("https://h/*", "http://l/*?k=1", "https://h/a?b=1", "http://l/a?k=1&b=1"),
            Row("https://h/*", "http://l/*?k=1", "https://h/a", "http://l/a?k=1"),
            Row("https://h/*", "http://l/s?q=*", "https://h/a?b=1&c#d", "http://l/s?q=a%3Fb%3D1%26c"),
            Row("https://h/*", "http://l/s?q=*&r=1", "https://h/a+b%26", "http://l/s?q=a%2Bb%26&r=1"),
            Row("https://h/*/*", "http://l/*?q=*", "https://h/a/b/c", "http://l/a?q=b/c"),
            Row("https://h/a?x=1", "http://l/b", "https://h/a?x=1", "http://l/b?x=1"),
            Row("https://h/a?x=1", "http://l/b?", "https://h/a?x=1", "http://l/b?"),
            Row("https://h/a?x=1", "http://l/b?y=2", "https://h/a?x=1", "http://l/b?y=2"),
            Row("https://h/a/*", "http://l/*", "https://h/a/%40%c3%BC", "http://l/%40%C3%BC"),
            Row("https://h/a*", "http://l/*", "https://h/a@evil.example/", "http://l/@evil.example/"),
            Row("https://h/a*", "http://l/b*", "https://h/a//evil.example", "http://l/b//evil.example"),
            Row("https://h/*", "http://[::1]:8080/*", "https://h/x", "http://[::1]:8080/x"),
        ]
    )
    func fills(_ row: Row) throws {
        #expect(try filled(row.key, row.target, row.request).url.absoluteString == row.expected)
    }

    @Test(
        "Targets with invalid parts are skipped",
        arguments: [
            Row("https://h/a*", "http://l/x/*", "https://h/a../y", "a segment that is “.” or “..”"),
            Row("https://h/a*b", "http://l/.*", "https://h/a.b", "a segment that is “.” or “..”"),
            Row("https://h/*", "http://l/*", "https://h/a%2Fb", "encoded slash"),
            Row("https://h/*", "http://l/*", "https://h/a%5cb", "encoded slash or backslash"),
            Row("https://h/*", "http://l/*", "https://h/a%0d%0ab", "control character"),
        ]
    )
    func obstacles(_ row: Row) throws {
        let obstacle = try #require(throws: Complaint.self) { try filled(row.key, row.target, row.request) }
        #expect(obstacle.description.contains(row.expected))
    }

    struct Way: Sendable, CustomTestStringConvertible {
        let row: Row
        let location: String

        init(_ key: String, _ target: String, _ request: String, _ location: String, _ original: String) {
            row = Row(key, target, request, original)
            self.location = location
        }

        var testDescription: String { "\(row.testDescription): \(location)" }
    }

    private static let api = ("https://h/v2/*", "http://l/api/*", "https://h/v2/a")

    @Test(
        "A redirect's target is mapped back",
        arguments: [
            Way(api.0, api.1, api.2, "http://l/api/b?c=1#d", "https://h/v2/b?c=1#d"),
            Way(api.0, api.1, api.2, "HTTP://L:80/x/../api/b", "https://h/v2/b"),
            Way(api.0, api.1, api.2, "http://l/api/", "https://h/v2/"),
            Way(api.0, api.1, api.2, "http://l/other", "none"),
            Way(api.0, api.1, api.2, "http://l/api/../other", "none"),
            Way(api.0, api.1, api.2, "http://l:81/api/b", "none"),
            Way(api.0, api.1, api.2, "https://l/api/b", "none"),
            Way(api.0, api.1, api.2, "http://l.evil.example/api/b", "none"),
            Way(api.0, api.1, api.2, "http://u@l/api/b", "none"),
            Way("https://h/*/v/*", "http://l/*/w/*", "https://h/1/v/2", "http://l/1/w/3", "https://h/1/v/3"),
            Way("https://h/*/v/*", "http://l/*/w/*", "https://h/1/v/2", "http://l/4/w/3", "none"),
            Way("https://h/a", "http://l/b", "https://h/a", "http://l/b?c#d", "https://h/a?c#d"),
            Way("https://h/a", "http://l/b", "https://h/a?x=1", "http://l/b", "https://h/a"),
            Way("https://h/a", "http://l/b", "https://h/a", "http://l/b/c", "none"),
            Way("https://h/*", "http://l/s?q=*", "https://h/a", "http://l/s?q=b", "https://h/a?q=b"),
        ]
    )
    func original(_ way: Way) throws {
        let filled = try filled(way.row.key, way.row.target, way.row.request)
        let location = try #require(URL(string: way.location))
        #expect(filled.original(of: location)?.absoluteString ?? "none" == way.row.expected)
    }
}
