import Foundation
import MapTools
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Maps in the documents", .values)
struct MapExampleTests {
    @Test("Every map loads without problems", arguments: Document.all.flatMap { $0.blocks(in: "json") })
    func loads(_ block: Block) throws {
        let folder = try ExampleFolder(files: MapExample.files(namedIn: block.text))
        let map = try SubstitutionMap(json: Data(block.text.utf8), resources: folder.url, handlers: .any)
        #expect(map.count > 0)
    }

    @Test("Every row of a table produces what it says", arguments: Document.all.flatMap(MapExample.examples))
    func answers(_ example: MapExample) throws {
        let folder = try ExampleFolder(files: example.files)
        let map = try SubstitutionMap(json: Data(example.json.utf8), resources: folder.url, handlers: .any)
        let plan = Plan(try #require(example.urlRequest), in: map, traits: .current)
        #expect(folder.describe(plan) == example.answer)
    }

    @Test(
        "`check` warns about no delay in a document",
        arguments: Document.all.flatMap { document in
            Document.lines(of: document.path).flatMap { line in
                line.matches(of: /delay(?:": |\()([0-9.]+)/).map { [document.path, String($0.1)] }
            }
        }
    )
    func delays(_ place: [String]) throws {
        let map = try SubstitutionMap(json: Data(#"{"https://h/a": {"text": "a", "delay": \#(place[1])}}"#.utf8))
        #expect(!MapReview(map).warnings.contains { $0.kind == .longDelay })
    }

    @Test("The documents' delays are found")
    func someDelays() {
        #expect(Document.lines(of: Document.article("Recipes").path).contains { $0.contains("\"delay\": 30") })
    }

    @Test("The table of fields lists every field")
    func fields() throws {
        let table = try #require(Document.article("MapFormat").tables.first { $0.header.first == "field" })
        let fields = table.rows.flatMap { $0.cells[0].components(separatedBy: "`, `") }
        #expect(Set(fields) == Set(EntryFields.names))
    }

    @Test("The table of problems lists every kind")
    func problems() throws {
        let table = try #require(Document.article("MapFormat").tables.first { $0.header == ["what", "kind"] })
        let source = Document.lines(of: "Sources/LocalSubstitution/Map/SubstitutionMapError.swift")
        let kinds = source.joined(separator: "\n").matches(of: /Kind\(rawValue: "(\w+)"\)/).map { String($0.1) }
        #expect(kinds.contains(SubstitutionMap.Problem.Kind.missingFile.rawValue))
        #expect(table.rows.map { $0.cells[1] }.sorted() == kinds.sorted())
    }
}

/// A row of a table in an article: what a request gets with a map.
struct MapExample: Sendable, CustomTestStringConvertible {
    let place: String
    let json: String
    /// A URL, which may have a method before it.
    let request: String
    /// A header of the request, such as `X-Plan: pro`; empty if it has none.
    let header: String
    let body: String
    /// A file's name, `none`, `status 404`, a body from the map, `error timedOut`, or the URL to which the request is sent.
    let answer: String
    let files: [String]

    var testDescription: String { "\(place): \(request)" }

    var urlRequest: URLRequest? {
        let words = request.split(separator: " ").map(String.init)
        guard let url = words.last.flatMap({ URL(string: $0) }) else { return nil }
        var made = URLRequest(url: url)
        if words.count > 1 { made.httpMethod = words[0] }
        let parts = header.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        if parts.count == 2 { made.setValue(parts[1], forHTTPHeaderField: parts[0]) }
        if !body.isEmpty { made.httpBody = Data(body.utf8) }
        return made
    }

    /// Returns the rows that have a request. Those with a key are a map themselves, and the others belong to the map above.
    static func examples(in document: Document) -> [MapExample] {
        var json = ""
        var examples: [MapExample] = []
        for part in document.parts {
            switch part {
            case .code("json", let lines, _): json = lines.joined(separator: "\n")
            case .code: break
            case .table(let table): examples += rows(of: table, in: document, below: json)
            }
        }
        return examples
    }

    private static func rows(of table: Document.Table, in document: Document, below json: String) -> [MapExample] {
        guard let request = table.header.firstIndex(of: "request"), let answer = table.header.firstIndex(of: "gets")
        else { return [] }
        let (header, body) = (table.header.firstIndex(of: "header"), table.header.firstIndex(of: "body"))
        return table.rows.map { line, cells in
            let own = table.header.first == "key" ? "{ \"\(cells[0])\": \"\(cells[1])\" }" : json
            return MapExample(
                place: "\(document.path):\(line)",
                json: own,
                request: cells[request],
                header: header.map { cells[$0] } ?? "",
                body: body.map { cells[$0] } ?? "",
                answer: cells[answer],
                files: files(namedIn: own) + [cells[answer]] + decoys
            )
        }
    }

    /// Files that a careless implementation would serve where nothing may be served.
    private static let decoys = ["app/.env", "app/a\\b", "app/b", "secret"]

    static func files(namedIn json: String) -> [String] {
        let map = (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String: Any] ?? [:]
        return map.filter { !$0.key.hasPrefix("$") }.values.flatMap(names)
    }

    /// Returns the files of an entry's value and its alternatives.
    private static func names(in value: Any) -> [String] {
        if let alternatives = value as? [Any] { return alternatives.flatMap(names) }
        guard let fields = value as? [String: Any] else { return [value as? String].compactMap { $0 } }
        let pieces = (fields["stream"] as? [Any] ?? []).filter { $0 is [String: Any] }
        return [fields["file"] as? String].compactMap { $0 } + (fields["alternatives"].map(names) ?? [])
            + pieces.flatMap(names)
    }
}

/// A resources folder for an example, removed with its last reference.
final class ExampleFolder {
    let url: URL

    init(files: [String]) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "Documentation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for name in files {
            let file = url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            // A name with a wildcard only needs its folder.
            if !name.contains("*") { try Data(name.utf8).write(to: file) }
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func describe(_ plan: Plan) -> String {
        guard let substitution = plan.substitution else { return "none" }
        switch substitution.answer {
        case .file, .never: return substitution.fileName ?? "status \(substitution.status)"
        case .inline(let body): return String(decoding: body.data, as: UTF8.self)
        case .stream(let pieces): return "\(pieces.count) pieces"
        case .handler(let handler): return handler.description
        case .error(let code): return "error \(URLErrors.name(code) ?? "")"
        case .network: return substitution.target?.url.absoluteString ?? "the network"
        }
    }
}
