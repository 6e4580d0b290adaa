import Foundation
import LocalSubstitutionRecording
import MapWriting
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapTools

@Suite("Files that a killed command left behind", .values)
struct LeftoverTests {
    private let fixture: ArchiveFixture

    init() throws {
        fixture = try ArchiveFixture()
        try fixture.take([
            Recording(url: "https://h.com/x/a", text: "old"), Recording(url: "https://h.com/b", text: "old"),
        ])
    }

    /// Returns all names in the folder, including hidden ones.
    private func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.url.path).sorted()
    }

    /// Leaves the files of a command that was killed before it saved the map.
    private func leave() throws {
        let recordings = [
            Recording(url: "https://h.com/x/a", text: "new"), Recording(url: "https://h.com/b", text: "new"),
        ]
        var map = try fixture.edited()
        _ = try map.take(HTTPArchive(Recording.archive(recordings)), HTTPArchive.Selection(), replacing: true)
        let digest = Digest.hexadecimal(of: Data("substitutions.json".utf8))
        try fixture.folder.write(".\(digest).edit", "{")
    }

    enum NextRun: CaseIterable {
        case nothingToDo, sameAgain, recorder
    }

    @Test("The next run removes them", arguments: NextRun.allCases)
    func nextRun(_ run: NextRun) throws {
        let before = try names()
        try leave()
        #expect(try names().count == before.count + 3)
        switch run {
        case .nothingToDo: _ = try fixture.edited()
        case .sameAgain: try fixture.take([Recording(url: "https://h.com/b", text: "new")], replacing: true)
        case .recorder: try SubstitutionRecorder(folder: fixture.folder.url).close()
        }
        let own = ["recorder.json", ".recorder.lock", ".recorder.journal"]
        #expect(try names().filter { !own.contains($0) } == before)
    }

    @Test("They stay if the next run doesn't write")
    func dryRun() throws {
        try leave()
        let before = try names()
        _ = try fixture.edited(isDryRun: true)
        #expect(try names() == before)
    }

    @Test("Files with other names stay, and so do those that a recorder is writing")
    func others() throws {
        let digest = Digest.hexadecimal(of: Data("c.txt".utf8))
        let others = [
            ".edit", ".a.edit", "\(digest).edit", ".\(digest).edit.txt", ".\(digest)0.edit",
            ".\(digest.uppercased()).edit",
            ".\(digest.dropLast())g.edit", ".\(digest).EDIT", ".\(digest).part",
        ]
        for name in others { try fixture.folder.write("Resources/h.com/\(name)", "mine") }
        try WrittenFolder(path: fixture.resources.path).prepare(Data("body".utf8), for: "h.com/d.txt")
        let before = try names()
        _ = try fixture.edited()
        #expect(try names() == before)
    }

    @Test("Another command has to wait while they're in use", arguments: [false, true])
    func turn(isElsewhere: Bool) throws {
        let elsewhere = try TemporaryFolder()
        let file = isElsewhere ? elsewhere.file("substitutions.json") : fixture.mapFile
        let map = try EditedMap(file, resources: fixture.resources)
        let descriptor = open(fixture.resources.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        withExtendedLifetime(map) {}
    }

    @Test("A map in its own resources folder doesn't wait for itself", .timeLimit(.minutes(5)))
    func sameFolder() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<2 { _ = try EditedMap(folder.file("substitutions.json"), resources: folder.url) }
    }
}
