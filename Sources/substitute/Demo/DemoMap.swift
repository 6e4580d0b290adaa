import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The lines of the demo's map, and which of them answered.
struct DemoMap {
    let name: String
    let lines: [String]
    /// The line numbers of the entries that answered, by URL.
    private let answering: [URL: Int]

    init(_ file: URL, answering urls: [URL], with cache: LocalSubstitutionCache) throws {
        name = file.lastPathComponent
        var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        self.lines = lines
        answering = urls.reduce(into: [:]) { answering, url in
            let explanation = cache.explain(URLRequest(url: url))
            if explanation.verdict == .substituted { answering[url] = explanation.winner?.line }
        }
    }

    /// Returns the number of the line that answered a URL.
    func line(for url: URL) -> Int? { answering[url] }

    /// Returns whether the line with this number answered.
    func hasAnswered(line: Int) -> Bool { answering.values.contains(line) }
}
