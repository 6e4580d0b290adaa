import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("The boundary of the resources folder", .values)
struct FolderBoundaryTests {
    let outer: TemporaryFolder
    let folder: ResourcesFolder

    init() throws {
        outer = try TemporaryFolder()
        try outer.write("outside/a.txt", "secret")
        try outer.write("res/sub/a.txt", "inside")
        folder = ResourcesFolder(outer.file("res"))
    }

    /// Reads a file repeatedly while another thread changes what its path leads to.
    private func read(_ name: String, times: Int, while change: @escaping @Sendable () -> Void) -> [String: Int] {
        let isDone = Guarded(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.withLock({ $0 }) { change() }
            hasEnded.signal()
        }
        var answers: [String: Int] = [:]
        for _ in 0..<times {
            let answer: String
            do throws(Complaint) {
                answer = String(decoding: try folder.open(name).contents(), as: UTF8.self)
            } catch {
                answer = "\(error)"
            }
            answers[answer, default: 0] += 1
        }
        isDone.withLock { $0 = true }
        hasEnded.wait()
        return answers
    }

    @Test("A file that another thread swaps for a link is never served from outside")
    func swappedFile() throws {
        let (path, spare) = (outer.file("res/sub/a.txt").path, outer.file("spare").path)
        let (file, symbolic) = (outer.file("file").path, outer.file("link").path)
        try outer.link("link", to: outer.file("outside/a.txt").path)
        try #require(link(path, file) == 0)
        let answers = read("sub/a.txt", times: 20_000) {
            // Both have hard links, so a swap takes two calls.
            for kept in [symbolic, file] {
                link(kept, spare)
                rename(spare, path)
            }
        }
        #expect(answers["secret"] == nil, "\(answers)")
        #expect(answers["inside"] != nil, "\(answers)")
    }

    @Test("A file in a folder that's swapped for a link is never served from outside")
    func swappedFolder() throws {
        let (folder, aside) = (outer.file("res/sub").path, outer.file("aside").path)
        let symbolic = outer.file("link").path
        try outer.link("link", to: outer.file("outside").path)
        let answers = read("sub/a.txt", times: 60_000) {
            rename(folder, aside)
            rename(symbolic, folder)
            rename(folder, symbolic)
            rename(aside, folder)
        }
        #expect(answers["secret"] == nil, "\(answers)")
        #expect(answers["inside"] != nil, "\(answers)")
    }

    @Test("A file that's replaced while it's opened is served, old or new")
    func replacedFile() throws {
        let (path, spare) = (outer.file("res/sub/a.txt").path, outer.file("res/sub/spare").path)
        let answers = read("sub/a.txt", times: 5_000) {
            let file = fopen(spare, "w")
            fputs("inside", file)
            fclose(file)
            rename(spare, path)
        }
        #expect(answers == ["inside": 5_000])
    }

    @Test("A folder whose name has the same characters in different bytes is outside")
    func canonicalEquivalence() throws {
        try outer.write("caf\u{E9}/a.txt", "inside")
        try outer.write("cafe\u{301}/secret.txt", "secret")
        let folder = ResourcesFolder(outer.file("caf\u{E9}"))
        // Some file systems treat both names as the same.
        guard FileStatus(path: folder.path(of: "secret.txt")) == nil else { return }
        try outer.link("caf\u{E9}/link.txt", to: "../cafe\u{301}/secret.txt")
        #expect(throws: Complaint.outsideFolder) { _ = try folder.open("link.txt") }
        #expect(folder.realName(of: "link.txt") == nil)
    }

    @Test("A link is one even if its slash and the next scalar are one character", arguments: ["link", "link\u{600}"])
    func slashInCharacter(link: String) throws {
        try outer.write("elsewhere/\u{301}a.txt", "secret")
        try outer.link("res/\(link)", to: "../elsewhere")
        #expect(throws: Complaint.outsideFolder) { _ = try folder.open("\(link)/\u{301}a.txt") }
    }

    @Test("A file isn't a folder, even if its name ends in a slash", arguments: ["sub/a.txt/", "sub//a.txt/"])
    func slashAtEnd(name: String) {
        #expect(throws: Complaint.missingFile) { _ = try folder.open(name) }
    }

    @Test("A file whose name begins with a combining mark is inside")
    func combiningMark() throws {
        try outer.write("res/\u{301}a.txt", "inside")
        #expect(try folder.open("\u{301}a.txt").contents() == Data("inside".utf8))
        #expect(folder.realName(of: "\u{301}a.txt") == "\u{301}a.txt")
    }

    @Test("A link between files in the folder is followed, even with an absolute path")
    func linksInside() throws {
        try outer.link("res/relative.txt", to: "sub/a.txt")
        try outer.link("res/absolute.txt", to: outer.file("res/sub/a.txt").path)
        for name in ["relative.txt", "absolute.txt"] {
            #expect(try folder.open(name).contents() == Data("inside".utf8))
            #expect(folder.realName(of: name) == "sub/a.txt")
        }
    }
}
