import Foundation

/// A Markdown file in the package, with its code blocks, tables and links.
struct Document: Sendable {
    let path: String
    let parts: [Part]

    enum Part: Sendable {
        case code(language: String, lines: [String], line: Int)
        case table(Table)
    }

    /// A table's header and cells, without the backticks around text in cells.
    struct Table: Sendable {
        let header: [String]
        var rows: [(line: Int, cells: [String])]
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let readme = Document("README.md")

    /// The articles of each library that has some.
    static let articles = ["LocalSubstitution", "LocalSubstitutionRecording"].flatMap { library in
        let folder = "Sources/\(library)/Documentation.docc"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().map { Document("\(folder)/\($0)") }
    }

    /// The article in a file of this name; empty if there's none.
    static func article(_ name: String) -> Document {
        articles.first { $0.path.hasSuffix("/\(name).md") } ?? Document("\(name).md")
    }

    static let all =
        ["README", "CONTRIBUTING", "CHANGELOG", "WhatFoundationDoes"].map { Document("\($0).md") } + articles

    init(_ path: String) {
        self.path = path
        var parts: [Part] = []
        var table: Table?
        var code: (language: String, lines: [String], line: Int)?
        for (index, line) in Self.lines(of: path).enumerated() {
            if let open = code {
                if line == "```" {
                    parts.append(.code(language: open.language, lines: open.lines, line: open.line))
                    code = nil
                } else {
                    code?.lines.append(line)
                }
                continue
            }
            guard !line.hasPrefix("|") else {
                let cells = Self.cells(line)
                if table == nil {
                    table = Table(header: cells, rows: [])
                } else if !cells.allSatisfy({ $0.allSatisfy { $0 == "-" } }) {
                    table?.rows.append((index + 1, cells))
                }
                continue
            }
            if let complete = table { parts.append(.table(complete)) }
            table = nil
            if line.hasPrefix("```") { code = (String(line.dropFirst(3)), [], index + 1) }
        }
        if let table { parts.append(.table(table)) }
        self.parts = parts
    }

    static func lines(of path: String) -> [String] {
        let text = (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines that aren't in blocks of code.
    static func prose(of path: String) -> [String] {
        var isCode = false
        return lines(of: path).filter { line in
            guard !line.hasPrefix("```") else {
                isCode.toggle()
                return false
            }
            return !isCode
        }
    }

    /// The definitions of a document's links and pictures, such as `[label]: target`, in their order.
    static func definitions(in path: String) -> [(label: String, target: String)] {
        prose(of: path).compactMap { line in
            line.wholeMatch(of: /\[([^\]]+)\]: (\S+)/).map { (String($0.1), String($0.2)) }
        }
    }

    /// The fragments of the links that lead to a document's sections.
    static func fragments(of path: String) -> Set<String> {
        Set(prose(of: path).filter { $0.hasPrefix("#") }.map(fragment(ofHeading:)))
    }

    /// Returns the fragment of a link to a section, as GitHub makes it from the line of the heading.
    static func fragment(ofHeading line: String) -> String {
        let heading = line.drop { $0 == "#" }.dropFirst().lowercased()
        return String(
            heading.compactMap { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : $0 == " " ? "-" : nil }
        )
    }

    var tables: [Table] {
        parts.compactMap { part in
            if case .table(let table) = part { table } else { nil }
        }
    }

    func blocks(in language: String) -> [Block] {
        parts.compactMap { part in
            guard case .code(language, let lines, let line) = part else { return nil }
            return Block(place: "\(path):\(line)", lines: lines)
        }
    }

    private static func cells(_ line: String) -> [String] {
        line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces).trimmingCharacters(in: ["`"])
        }
    }
}

/// A code block in a document.
struct Block: Sendable, CustomStringConvertible {
    let place: String
    let lines: [String]

    var text: String { lines.joined(separator: "\n") }
    var description: String { place }
}
