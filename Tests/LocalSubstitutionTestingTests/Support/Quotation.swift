#if os(Linux) || os(macOS)
import Foundation
import Testing

/// Text that a document quotes in a block of code.
enum Quotation {
    /// Returns the first block that begins with some words.
    ///
    /// - Parameters:
    ///   - language: The block's language; empty, the default, for a block without one.
    ///   - path: The document's path in the package.
    static func block(_ words: String, language: String = "", in path: String) throws -> String {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let document = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let start = try #require(document.range(of: "```\(language)\n\(words)"), "\(path) has no block “\(words)…”")
        return document[start.lowerBound...].components(separatedBy: "\n").dropFirst().prefix { $0 != "```" }
            .joined(separator: "\n")
    }
}
#endif
