import Foundation
import MapWriting
import TestSupport
import Testing

@Suite("What the documents say about recordings", .values)
struct RecordedHeadersTests {
    /// The names in the article's list, with `*` for any text, and those that it excepts.
    private static let listed = {
        let text = Document.lines(of: Document.article("RecordResponsesForTests").path).joined(separator: " ")
        let section = text.components(separatedBy: "### Which headers are recorded").last ?? ""
        let names = section.prefix { $0 != "." }.components(separatedBy: " except ").map { part in
            part.matches(of: /`([^`]+)`/).map { $0.output.1.lowercased() }
        }
        return (recorded: names.first ?? [], excepted: names.dropFirst().last ?? [])
    }()

    private static func isRecorded(_ name: String) -> Bool {
        RecordingRules.Headers.sorted([name: "v"]).leftOut.isEmpty
    }

    /// Returns whether the list has a name, or the beginning, end or middle of one.
    private static func isListed(_ name: String) -> Bool {
        !listed.excepted.contains(name) && listed.recorded.contains { fnmatch($0, name, 0) == 0 }
    }

    @Test("The headers in the article's list are recorded, except those that it excepts")
    func list() {
        #expect(Self.listed.recorded.count > 20)
        #expect(Self.listed.excepted.count == 3)
        for name in Self.listed.recorded { #expect(Self.isRecorded(name.replacing("*", with: "x")), "\(name)") }
        for name in Self.listed.excepted { #expect(!Self.isRecorded(name), "\(name)") }
    }

    @Test("The article lists every header that the sources name and a recording has")
    func recorded() {
        let lines = Document.lines(of: "Sources/MapWriting/RecordingRules.swift")
        let names = lines.joined(separator: "\n").matches(of: /"([A-Za-z-]+)"/).map { $0.output.1.lowercased() }
        let recorded = names.filter { $0 != "content-type" && Self.isRecorded($0) }
        #expect(recorded.count > 20)
        for name in recorded { #expect(Self.isListed(name), "\(name)") }
    }
}
