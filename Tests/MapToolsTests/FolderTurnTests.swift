import Foundation
import LocalSubstitution
import MapWriting
import TestSupport
import Testing

@testable import MapTools

@Suite("Turns of the programs that change a folder", .values)
struct FolderTurnTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "If a map's turn takes longer than a second, that's said once",
        arguments: [(".", "."), ("Resources", "Resources"), ("Resources", ".")]
    )
    func waiting(_ busy: String, _ alsoBusy: String) throws {
        try folder.makeFolder("Resources")
        var other: FolderTurn? = try FolderTurn(folder.file(busy), folder.file(alsoBusy))
        var said: [String] = []
        _ = try EditedMap(folder.file("map.json"), resources: folder.file("Resources")) { text in
            withExtendedLifetime(other) {}
            other = nil
            said.append(text)
        }
        #expect(said.count == 1)
        #expect(said.first?.hasPrefix("Waiting for another program that is changing the folder “") == true)
    }

    @Test("If the turn comes at once, nothing is said")
    func free() throws {
        _ = try EditedMap(folder.file("map.json"), resources: folder.file("Resources")) { Issue.record("\($0)") }
    }

    @Test("The wait ends in an error, and the locks that were taken are free again")
    func limit() throws {
        try folder.makeFolder("a")
        try folder.makeFolder("b")
        for (busy, free) in [("a", "b"), ("b", "a")] {
            let other = try FolderTurn(folder.file(busy))
            let error = try #require(throws: Complaint.self) {
                try FolderTurn(folder.file(busy), folder.file(free), limit: 0)
            }
            #expect(error.description.hasPrefix("Another program has been changing the folder “"))
            #expect(error.description.hasSuffix("” for 0 seconds. Try again when it has ended."))
            _ = try FolderTurn(folder.file(free), limit: 0)
            withExtendedLifetime(other) {}
        }
    }
}
