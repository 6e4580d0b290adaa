import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapWriting

@Suite("Names in use", .values)
struct RecordedFileNameInUseTests {
    /// The spelling of a name while others are in use; `nil` if it isn't free.
    struct Row: Sendable {
        let others: [String]
        let name: String
        let taken: String?
    }

    static let rows = [
        Row(others: [], name: "h/a.txt", taken: "h/a.txt"),
        Row(others: ["h/a.txt"], name: "h/a.txt", taken: nil),
        Row(others: ["h/a.txt"], name: "h/A.TXT", taken: nil),
        Row(others: ["h/stra\u{DF}e"], name: "h/STRASSE", taken: nil),
        Row(others: ["h/\u{E9}"], name: "h/e\u{301}", taken: nil),
        Row(others: ["h/a"], name: "h/a/b", taken: nil),
        Row(others: ["h/a"], name: "h/a/b/c", taken: nil),
        Row(others: ["h/a/b"], name: "h/a", taken: nil),
        Row(others: ["h/a/b"], name: "H/A", taken: nil),
        Row(others: ["h/a/b"], name: "a/b", taken: "a/b"),
        Row(others: ["h/a/b"], name: "b", taken: "b"),
        Row(others: ["Host/Folder/b"], name: "host/folder/c", taken: "Host/Folder/c"),
        Row(others: ["Host/b"], name: "host/Folder/c", taken: "Host/Folder/c"),
        // A case-sensitive file system can have both, so the folder's own spelling counts.
        Row(others: ["Host/b", "host/folder/b"], name: "HOST/FOLDER/c", taken: "host/folder/c"),
        Row(others: ["Host/b", "host/folder/b"], name: "HOST/c", taken: "Host/c"),
        Row(others: ["\u{E9}/b"], name: "e\u{301}/c", taken: "\u{E9}/c"),
        Row(others: ["h/b"], name: "h/\u{301}c", taken: "h/\u{301}c"),
    ]

    @Test(
        "A name is taken if any file system confuses it with another, and folders keep their spelling",
        arguments: rows
    )
    func take(_ row: Row) {
        var names = RecordedFileName.InUse()
        for other in row.others { names.insert(other) }
        // Compare scalars, since Strings are equal whether they're composed or not.
        #expect(names.take(row.name).map { Array($0.utf8) } == row.taken.map { Array($0.utf8) })
    }

    @Test("A released name is free again, and its folder keeps its spelling")
    func release() {
        var names = RecordedFileName.InUse()
        #expect(names.take("Host/a") == "Host/a")
        names.release("host/A")
        names.release("host/none/a")
        #expect(names.take("host/a") == "Host/a")
        #expect(names.take("host/a") == nil)
    }

    @Test("Ten times as many folders take about ten times as long, not a hundred times")
    func linear() {
        let isLinear = takesLinearTime(from: 1_000, of: { String(repeating: "a/", count: $0) }) { folder in
            var names = RecordedFileName.InUse()
            #expect(names.take(folder + "a") != nil)
            #expect(names.take(folder + "b") != nil)
        }
        #expect(isLinear)
    }
}
