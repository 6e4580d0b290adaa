#if os(Linux)
import TestSupport
import Testing

@Suite("File names", .values)
struct FileNameTests {
    @Test("A file is named for what it declares, and other types in it are private")
    func names() throws {
        var found: [String: [String]] = [:]
        for path in try PackageFolder.targets.flatMap(PackageFolder.sources) {
            let problems = try FileName(path: path, text: SourceText(PackageFolder.text(of: path))).problems
            guard !problems.isEmpty, let name = path.split(separator: "/").last else { continue }
            found[String(name), default: []] += problems
        }
        for (name, problems) in found.sorted(by: { $0.key < $1.key }) {
            let new = problems.filter { MisnamedFiles.notYet[name]?.contains($0) != true }
            #expect(new.isEmpty, "\(name) isn't named for what it declares: \(new). Rename it, or move the types.")
        }
        for (name, problems) in MisnamedFiles.notYet {
            let fixed = problems.filter { found[name]?.contains($0) != true }
            #expect(fixed.isEmpty, "\(name) is right now. Remove it from `MisnamedFiles.notYet`: \(fixed)")
        }
    }

    @Test(
        "A misnamed file is found",
        arguments: [
            ("Word.swift", "struct Word {\n    struct Kind {}\n}", []),
            ("Word.swift", "@MainActor public final class Word {}\nprivate enum Kind {}\nextension Kind {}", []),
            ("Word.swift", "extension Text {\n    struct Word {}\n}", []),
            ("Word.swift", "private func word() {}", []),
            ("Word.swift", "extension Text {\n    var word: Int { 1 }\n}", []),
            ("Word+Kind.swift", "extension Word {\n    enum Kind {}\n}", []),
            ("Word+Kind.swift", "extension Text.Word {}", []),
            ("Word.swift", "struct Word {}\nstruct Kind {}\nindirect enum Tree {}", ["Kind", "Tree"]),
            ("Word.swift", "// struct Word {}\nlet text = \"struct Word\"", ["file"]),
            ("Word.swift", "struct Text {\n    struct Word {}\n}", ["file", "Text"]),
            ("Word+Kind.swift", "struct Word {}\nenum Kind {}", ["file", "Kind"]),
            ("Word+Kind.swift", "#if os(Linux)\nextension Text {}\n#endif", ["file"]),
        ]
    )
    func misnamed(_ name: String, _ source: String, _ expected: [String]) throws {
        #expect(try FileName(path: "Sources/\(name)", text: SourceText(source)).problems == expected)
    }
}
#endif
