import Foundation
import Guarded
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Bodies that are read as a whole", .values)
struct ThrottledBodyTests {
    private static let size = FileBytes.Large.smallestSize

    private static func arriving(_ pieces: [Int]) -> Response.Body {
        let left = Guarded(pieces)
        return .arriving { .success(left.withLock { $0.isEmpty ? nil : Data(count: $0.removeFirst()) }) }
    }

    @Test(
        "A file or an arriving body is read up to a limit, and data without one",
        arguments: [size - 1, size, size + 1]
    )
    func limit(_ limit: Int) throws {
        let folder = try TemporaryFolder()
        try folder.write("a", Data(count: Self.size))
        let file = try #require(try FileBytes.Large(opening: "a", in: ResourcesFolder(folder.url)))
        let expected = limit < Self.size ? nil : Self.size
        #expect(try Response.Body.file(file, 0..<Self.size).whole(upTo: limit)?.count == expected)
        #expect(try Self.arriving([Self.size - 1, 1]).whole(upTo: limit)?.count == expected)
        #expect(try Response.Body.data(Data(count: Self.size)).whole(upTo: limit)?.count == Self.size)
    }

    @Test("If a file is written to after it was opened, the error says so")
    func written() throws {
        let folder = try TemporaryFolder()
        let url = try folder.write("a", Data(count: Self.size))
        let file = try #require(try FileBytes.Large(opening: "a", in: ResourcesFolder(folder.url)))
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: 1)
        try handle.close()
        let error = #expect(throws: URLError.self) { try Response.Body.file(file, 0..<Self.size).whole(upTo: .max) }
        #expect(error?.code == .cannotOpenFile)
        #expect(error?.localizedDescription == "The entry's file changed while it was being read. Try again.")
    }
}
