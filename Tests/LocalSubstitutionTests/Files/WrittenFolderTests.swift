import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

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
            #expect(throws: WrittenFolder.Problem.self) { try written.write(Data("x".utf8), to: "sub/a.txt") }
        }
        #expect(problem?.code == EACCES)
        #expect(problem?.message.contains("“sub/a.txt” can't be written: Permission denied") == true)
    }

    @Test("A link in the path is refused by name", arguments: ["link/a.txt", "sub/link/a.txt", "sub/link/b/a.txt"])
    func link(name: String) throws {
        let outside = try TemporaryFolder()
        try folder.makeFolder("sub")
        for link in ["link", "sub/link"] { try folder.link(link, to: outside.url.path) }
        let problem = #expect(throws: WrittenFolder.Problem.self) { try written.write(Data("x".utf8), to: name) }
        #expect(problem?.message.contains("“link” is a symbolic link") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.url.path).isEmpty)
    }

    @Test("Removing a file also removes leftovers from writing it")
    func remove() throws {
        try written.prepare(Data("x".utf8), for: "a.txt")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
        written.remove("a.txt")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
}
