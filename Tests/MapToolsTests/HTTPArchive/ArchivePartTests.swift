import Foundation
import HTTPSyntax
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("An archive's parts of files", .values)
struct ArchivePartTests {
    private static func part(
        _ range: String?,
        _ text: String? = "0123456789",
        size: Int = -1,
        _ headers: [(String, String)] = []
    ) -> Recording {
        let range = range.map { [("content-range", $0)] } ?? []
        return Recording(status: 206, mimeType: "text/css", text: text, size: size, headers: headers + range)
    }

    private static let isGzip = [("Content-Encoding", "gzip")]
    private static let whole = Recording(mimeType: "text/css", text: "0123456789")

    /// Responses, why each is left out, and the texts that are then returned.
    static let rows: [(recorded: [Recording], left: [String?], texts: [String])] = [
        ([part("bytes 0-9/10")], [nil], ["0123456789"]), ([part(" Bytes 0-9/10")], [nil], ["0123456789"]),
        ([part("bytes 2-4/10", "234")], ["part"], []), ([part("bytes 0-4/10", "01234")], ["part"], []),
        ([part("bytes 5-9/10", "56789")], ["part"], []), ([part("bytes 0-9/*")], ["part"], []),
        ([part("bytes */10")], ["part"], []), ([part("bytes 0--1/0", "")], ["part"], []),
        ([part(nil)], ["part"], []), ([part("bytes 0-4/10", nil)], ["part"], []),
        ([part("bytes 0-9/10", "012345678")], ["part"], []), ([part("bytes 0-9/10", nil)], ["noBody"], []),
        ([part("bytes 0-9/10", "", size: 0)], ["part"], []),
        ([part("bytes 0-9/10", "0123456789 and more", isGzip)], [nil], ["0123456789 and more"]),
        ([part("bytes 0-9/10", "0123456ä89")], [nil], ["0123456ä89"]),
        ([part("bytes 0-4/10", "01234"), part("bytes 5-9/10", "56789")], ["part", "part"], []),
        ([whole, part("bytes 5-9/10", "56789")], [nil, "part"], ["0123456789", "0123456789"]),
        ([part("bytes 5-9/10", "56789"), whole], ["part", nil], ["0123456789", "0123456789"]),
        ([whole, part("bytes 0-9/10"), whole], [nil, nil, nil], ["0123456789", "0123456789"]),
    ]

    @Test("A 206 with all bytes of a file is a 200, and any other is left out", arguments: rows)
    func parts(_ row: (recorded: [Recording], left: [String?], texts: [String])) throws {
        for onlyLast in [false, true] {
            let fixture = try ArchiveFixture()
            let kinds = try fixture.take(row.recorded, onlyLast: onlyLast).map(\.left?.kind)
            // With only the last response, an earlier one isn't looked at.
            #expect(zip(kinds, row.left).allSatisfy { $0 == $1 || onlyLast && $0 == "superseded" })
            for text in row.texts {
                let served = try #require(try fixture.served("https://h.com/a"))
                #expect(served.status == 200 && served.body == Data(text.utf8))
            }
            // The same response in a row is one entry without `times`.
            if !row.texts.isEmpty {
                #expect(try !fixture.mapText.contains("times") && !fixture.mapText.contains("206"))
            }
        }
        let map = try HTTPArchive(Recording.archive(row.recorded)).map()
        let substitution = try map.match(NormalizedURL("https://h.com/a")).substitution
        #expect(substitution?.status == (row.texts.isEmpty ? nil : 200))
        #expect(substitution?.headers[header: "Content-Range"] == nil)
    }

    @Test("The files whose parts are left out are named, unless there's another response")
    func named() throws {
        let recordings = [
            ("a", "GET", "bytes 0-4/10"), ("a", "GET", "bytes 5-9/10"), ("b", "POST", "bytes 0-4/10"),
            ("c", "GET", "bytes 0-4/10"), ("c", "GET", "bytes 0-4/5"), ("d?token=s3cr3t", "GET", "bytes 0-4/10"),
            ("e", "GET", "bytes 0-4/10"),
        ].map { name, method, range in
            var recording = Self.part(range, "01234")
            (recording.url, recording.method) = ("https://h.com/\(name)", method)
            return recording
        }
        let archive = try HTTPArchive(Recording.archive(recordings))
        let fixture = try ArchiveFixture()
        try fixture.folder.write("substitutions.json", #"{ "https://h.com/e": { "status": 404 } }"#)
        var map = try fixture.edited(isDryRun: true)
        let parts = map.take(archive, try HTTPArchive.Selection()).parts
        #expect(parts.count == 3)
        #expect(parts.urls == ["https://h.com/a"])
    }
}
