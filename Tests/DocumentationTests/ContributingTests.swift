import Foundation
import TestSupport
import Testing

@Suite("What CONTRIBUTING says about the code", .values)
struct ContributingTests {
    private static let document = Document("CONTRIBUTING.md")
    private static let lines = Document.lines(of: document.path)

    @Test("A change that it shows fits its file, or is made", arguments: document.blocks(in: "diff"))
    func change(_ block: Block) throws {
        let first = try #require(block.lines.first)
        try #require(first.hasPrefix("--- "), "The first line doesn't name a file.")
        let source = Document.lines(of: String(first.dropFirst(4)))
        let (before, after) = (block.lines(except: "+"), block.lines(except: "-"))
        #expect(before != after)
        #expect(source.ranges(of: before).count == 1 || source.ranges(of: after).count == 1)
    }

    @Test("The files of its walks have the functions of the steps")
    func walks() throws {
        let rows = Self.document.tables.filter { $0.header.last == "what is decided" }.flatMap(\.rows)
        #expect(rows.count > 40)
        let library = "Sources/LocalSubstitution"
        let files = Self.files(in: library)
        for (line, _) in rows {
            let cells = Self.lines[line - 1].split(separator: "|", omittingEmptySubsequences: false)
            let named = cells[3].matches(of: /`([A-Za-z+\/]+\.swift)`/).map { String($0.output.1) }
            let found = named.compactMap { name in files.first { "/\($0)".hasSuffix("/\(name)") } }
            #expect(found.count == named.count, "line \(line)")
            guard !found.isEmpty else { continue }
            let source = found.flatMap { Document.lines(of: "\(library)/\($0)") }.joined(separator: "\n")
            for step in cells[2].matches(of: /`(?:[A-Za-z]+\.)?([A-Za-z]+)[(`]/).map(\.output.1) {
                let declaration = step == "init" ? #"\binit\("# : #"\b(func|var|let|struct|enum|class) \#(step)\b"#
                #expect(try source.contains(Regex(declaration)), "line \(line): \(step)")
            }
        }
    }

    @Test("Every file, folder and suite that it names exists")
    func names() throws {
        let text = Self.lines.joined(separator: "\n")
        let paths = text.matches(of: /`((?:Benchmarks|Plugins|Scripts|Sources|Tests)\/[^`\s]*)`/).map(\.output.1)
        #expect(paths.count > 20)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Document.root.appending(path: path).path), "\(path)")
        }
        let files = Self.files(in: "Tests")
        for suite in text.matches(of: /`([A-Z][A-Za-z]*Tests)`/).map(\.output.1) {
            #expect(files.contains { $0 == suite || "/\($0)".hasSuffix("/\(suite).swift") }, "\(suite)")
        }
    }

    /// The paths of all files and folders in a folder of the package, from that folder.
    private static func files(in folder: String) -> [String] {
        (FileManager.default.subpaths(atPath: Document.root.appending(path: folder).path) ?? []).sorted()
    }
}

extension Block {
    /// Returns a change's lines without their marks, and without the lines that have one of the marks.
    fileprivate func lines(except mark: String) -> [String] {
        lines.dropFirst().filter { !$0.hasPrefix(mark) }.map { String($0.dropFirst()) }
    }
}
