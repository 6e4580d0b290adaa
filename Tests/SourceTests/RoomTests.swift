#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Rooms", .sources)
struct RoomTests {
    @Test("A folder only uses the folders before it", arguments: Rooms.all.map(\.target))
    func order(_ target: String) async throws {
        let rooms = try #require(Rooms.all.first { $0.target == target })
        // Uses both, since each has code that the other doesn't. Linux's are only the files that are different there.
        let files = try await [Compiled.linux(), Compiled.apple()].flatMap { $0[target] ?? [] }
        #expect(files.count >= (try PackageFolder.sources(of: target).count))
        let arrows = Arrow.all(in: files, of: "Sources/\(target)")
        for problem in rooms.problems(with: arrows) { Issue.record("\(problem)") }
    }

    @Test("Every target has rooms, and every folder with code is one or a known exception")
    func folders() throws {
        let sources = PackageFolder.root.appendingPathComponent("Sources").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: sources).sorted() == PackageFolder.targets.sorted())
        #expect(Rooms.all.map(\.target) == PackageFolder.targets)
        for rooms in Rooms.all {
            let known = Set(rooms.order + rooms.notYet.flatMap { [$0.key] + $0.value })
            let folders = try PackageFolder.sources(of: rooms.target)
                .map { Arrow.room(of: $0, in: "Sources/\(rooms.target)") }
            #expect(Set(folders).isSubset(of: known), "\(rooms.target) has \(Set(folders).subtracting(known).sorted())")
        }
    }

    @Test("CONTRIBUTING has the same table")
    func document() throws {
        let rows = try PackageFolder.text(of: "CONTRIBUTING.md").components(separatedBy: "\n")
            .drop { $0 != "| room | what is in it |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
        let names = rows.map { $0.split(separator: "|")[0].filter { !"` /".contains($0) } }
        #expect(names == Rooms.all.first { $0.target == "LocalSubstitution" }?.order)
    }

    // MARK: The check itself

    private static let madeUp = Rooms(target: "MadeUp", order: ["Low", "High", "top"], notYet: [:])

    private static let files = [
        "Low/Word.swift": "struct Word { var length = 1 }\nenum Kind { case long }",
        "High/Text.swift": "struct Text { var words: [Word] = []; func first() -> Word? { words.first } }",
        "Book.swift": "struct Book { let text = Text() }",
    ]

    @Test(
        "An upward arrow and a cycle are found, however the other folder is named",
        arguments: [
            ("struct Line { let text: Text }", ["Low → High"]),
            ("extension Word { var book: Book? { nil } }", ["Low → top"]),
            ("func find(_ type: Any.Type) -> Bool { type == Text.self }", ["Low → High"]),
            ("func count(_ text: some Sequence) -> Int { Text().words.count }", ["Low → High"]),
            // The use is only inferred.
            ("func length(_ book: Book) -> Int? { book.text.first()?.length }", ["Low → High", "Low → top"]),
            ("struct Line { let word = Word() }", []),
        ]
    )
    func upwards(_ source: String, _ expected: [String]) async throws {
        let arrows = try await Self.arrows(adding: ["Low/Line.swift": source])
        let problems = Self.madeUp.problems(with: arrows)
        #expect(problems.map { $0.prefix { $0 != "\n" } }.map(Self.arrow) == expected)
        #expect(problems.allSatisfy { $0.contains("Low/Line.swift uses, of ") })
    }

    @Test("A folder that isn't a room may neither use others nor be used")
    func unknownFolder() async throws {
        let arrows = try await Self.arrows(
            adding: ["Other/Page.swift": "struct Page { let kind = Kind.long }", "Last.swift": "let last = Page()"]
        )
        #expect(Self.madeUp.problems(with: arrows).map(Self.arrow) == ["Other → Low", "top → Other"])
    }

    @Test("A known exception is accepted while it exists")
    func notYet() async throws {
        let known = Rooms(target: "MadeUp", order: Self.madeUp.order, notYet: ["Low": ["High", "top"]])
        let arrows = try await Self.arrows(adding: ["Low/Line.swift": "struct Line { let text: Text }"])
        #expect(known.problems(with: arrows) == ["MadeUp: Low → top doesn't exist any more. Remove it from `notYet`."])
    }

    private static func arrow(_ problem: some StringProtocol) -> String {
        problem.dropFirst("MadeUp: ".count).components(separatedBy: " is wrong")[0]
    }

    private static func arrows(adding sources: [String: String]) async throws -> [Arrow: [String]] {
        let folder = Compiler.temporaryFile("rooms")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (path, source) in files.merging(sources, uniquingKeysWith: { $1 }) {
            let file = folder.appendingPathComponent(path)
            let parent = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try Data(source.utf8).write(to: file)
        }
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let compiled = try await Compiler(modules: folder).compile("MadeUp", paths.map { "\(folder.path)/\($0)" })
        return Arrow.all(in: compiled, of: folder.path)
    }
}
#endif
