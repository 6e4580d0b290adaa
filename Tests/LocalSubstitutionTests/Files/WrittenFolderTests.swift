import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapWriting

@Suite("Files that are written whole or not at all", .values)
struct WrittenFolderTests {
    private let folder: TemporaryFolder
    private var written: WrittenFolder { WrittenFolder(path: folder.url.path) }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A replaced file keeps its permissions", arguments: [0o600, 0o640, 0o444, 0o666, 0o755])
    func permissions(mode: Int) throws {
        let file = try folder.write("sub/a.txt", "old")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        try written.write(Data("new".utf8), to: "sub/a.txt")
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
    }

    @Test("A name may be as long as the file system allows")
    func longName() throws {
        let name = String(repeating: "a", count: 255)
        try written.write(Data("x".utf8), to: name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [name])
    }

    @Test("If a folder can't be made, the error has the system's reason")
    func noPermission() throws {
        let problem = try folder.whileReadOnly(".") {
            #expect(throws: Complaint.self) { try written.write(Data("x".utf8), to: "sub/a.txt") }
        }
        let message = "“sub/a.txt” can't be written: Permission denied. Allow this user to write there."
        #expect(problem?.description == message)
    }

    @Test("An error ends in what to do", arguments: [(ENOSPC, "Free some space."), (EROFS, "Use another folder.")])
    func advice(code: Int32, advice: String) {
        let message = Complaint.unwritableFile("a.txt", code).description
        #expect(message == "“a.txt” can't be written: \(String(cString: strerror(code))). \(advice)")
    }

    @Test("A link in the path is refused by name", arguments: ["link/a.txt", "sub/link/a.txt", "sub/link/b/a.txt"])
    func link(name: String) throws {
        let outside = try TemporaryFolder()
        try folder.makeFolder("sub")
        for link in ["link", "sub/link"] { try folder.link(link, to: outside.url.path) }
        let problem = #expect(throws: Complaint.self) { try written.write(Data("x".utf8), to: name) }
        #expect(problem?.description.contains("“link” is a symbolic link") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
    }

    @Test("A folder that exists is opened at once, so the folders above it needn't be readable")
    func unreadableFolder() throws {
        try folder.makeFolder("a/b/c")
        try folder.whileReadOnly("a", permissions: 0o311) {
            for name in ["a/b/c/1.txt", "a/b/c/d/e/2.txt"] { try written.write(Data("x".utf8), to: name) }
        }
        #expect(try Data(contentsOf: folder.file("a/b/c/d/e/2.txt")) == Data("x".utf8))
    }

    @Test("Folders are made under the deepest that exists", arguments: [0, 1, 2, 7, 39, 40])
    func deepFolders(existing: Int) throws {
        let segments = (1...40).map { "\($0)" }
        if existing > 0 { try folder.makeFolder(segments.prefix(existing).joined(separator: "/")) }
        let name = (segments + ["a.txt"]).joined(separator: "/")
        for text in ["old", "new"] {
            try written.write(Data(text.utf8), to: name)
            #expect(try Data(contentsOf: folder.file(name)) == Data(text.utf8))
        }
    }

    @Test("A folder that another thread swaps for a link is never used")
    func swappedFolder() throws {
        let outside = try TemporaryFolder(files: ["b/c/1.txt"])
        let aside = try TemporaryFolder()
        try aside.link("link", to: outside.url.path)
        try folder.write("a/b/c/2.txt", "inside")
        let (path, spare, link) = (folder.file("a").path, aside.file("a").path, aside.file("link").path)
        let isDone = Guarded(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isDone.withLock({ $0 }) {
                rename(path, spare)
                rename(link, path)
                rename(path, link)
                rename(spare, path)
            }
            hasEnded.signal()
        }
        var count = 0
        // Neither call makes folders, which would end the swapping.
        for _ in 0..<30_000 {
            written.remove("a/b/c/1.txt")
            if written.contains("a/b/c/2.txt") { count += 1 }
        }
        isDone.withLock { $0 = true }
        hasEnded.wait()
        #expect(count > 0)
        #expect(try String(contentsOf: outside.file("b/c/1.txt"), encoding: .utf8) == "b/c/1.txt")
    }

    @Test("A batch creates files in folders in any order, refuses invalid names, and removes files")
    func batch() throws {
        let names = ["a/1", "a/2", "1", "2", "a/b/1", "a/b/2", "a/3", "ab/1", "a/b/c/1", "é/1", "e\u{301}/2", "é/3"]
        let batch = WrittenFolder.Batch(in: written)
        for name in names {
            #expect(!batch.contains(name))
            try batch.create(Data(name.utf8), as: name)
            #expect(batch.contains(name))
            for wrong in ["\(name)/..", "../\(name)", "a/..", "a/", "a//1", "", "a/\0"] {
                let problem = #expect(throws: Complaint.self) { try batch.create(Data(), as: wrong) }
                #expect(problem == .unwritableFile(wrong, EINVAL))
            }
            #expect(throws: Complaint.self) { try batch.create(Data(), as: name) }
        }
        for name in names { #expect(try Data(contentsOf: folder.file(name)) == Data(name.utf8)) }
        for name in names {
            batch.remove(name)
            #expect(!batch.contains(name) && !written.contains(name))
        }
    }

    @Test("A batch never follows a link", arguments: ["link/1", "a/link/1", "a/2"])
    func batchAndLink(name: String) throws {
        let outside = try TemporaryFolder(files: ["1", "2"])
        try folder.makeFolder("a")
        for link in ["link", "a/link"] { try folder.link(link, to: outside.url.path) }
        let batch = WrittenFolder.Batch(in: written)
        #expect(!batch.contains("a/1"))
        // The open folder is moved, and a link has its name.
        try FileManager.default.moveItem(at: folder.file("a"), to: folder.file("b"))
        try folder.link("a", to: outside.url.path)
        #expect(!batch.contains(name))
        batch.remove(name)
        try? batch.create(Data("new".utf8), as: name + "-new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).sorted() == ["1", "2"])
    }

    @Test("A folder that's removed during a batch is made again")
    func batchInRemovedFolder() throws {
        try folder.makeFolder("a/b")
        let batch = WrittenFolder.Batch(in: written)
        for name in ["a/b/1", "a/b/2"] {
            #expect(!batch.contains(name))
            try folder.remove("a")
            try batch.create(Data(name.utf8), as: name)
            #expect(try Data(contentsOf: folder.file(name)) == Data(name.utf8))
        }
    }

    @Test("Removing a file also removes leftovers from writing it")
    func remove() throws {
        try written.prepare(Data("x".utf8), for: "a.txt")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
        written.remove("a.txt")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}
