import Foundation
import TestSupport
import Testing

@Suite("Pictures in the documents", .sessions)
struct PictureTests {
    private static let articles = Document.articles.map(ArticlePictures.init).filter { !$0.onGitHub.isEmpty }

    @Test("Each picture is a file with a text for those who can't see it", arguments: articles)
    func files(_ article: ArticlePictures) {
        #expect(article.onGitHub.map(\.label) == article.inDocC.map(\.label))
        #expect(article.shown.map(\.label) == article.onGitHub.map(\.label))
        #expect(article.shown.allSatisfy { !$0.target.isEmpty })
        for (onGitHub, inDocC) in zip(article.onGitHub, article.inDocC) {
            #expect(onGitHub.target == "Resources/\(inDocC.target)")
            let file = Document.root.appending(path: "\(article.folder)/\(onGitHub.target)")
            #expect(FileManager.default.fileExists(atPath: file.path), "\(onGitHub.target)")
        }
    }

    @Test("Articles show pictures")
    func some() { #expect(Self.articles.count > 1) }

    #if os(macOS) || os(Linux)
    private static let hasPython = (try? Session.output(of: "python3 -c 'print(6 * 7)'", in: Document.root)) == "42\n"

    @Test(
        "The script draws what the articles show",
        .enabled(if: hasPython, "Python 3 is not here")
    )
    func diagrams() throws {
        let command = "python3 Scripts/draw-diagrams.py --check 2>&1 && echo same"
        #expect(try Session.output(of: command, in: Document.root) == "same\n")
    }
    #endif
}

/// The pictures that an article shows, each with a definition for GitHub and one for DocC, as links have.
struct ArticlePictures: Sendable, CustomTestStringConvertible {
    typealias Picture = (label: String, target: String)

    let path: String
    let onGitHub: [Picture]
    let inDocC: [Picture]

    /// The pictures in the order of the text. Each target is the text that replaces the picture.
    let shown: [Picture]

    var testDescription: String { path }
    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    init(_ article: Document) {
        path = article.path
        let definitions = Document.definitions(in: article.path).filter { $0.target.contains(/\.(?:svg|png)$/) }
        onGitHub = definitions.filter { $0.target.contains("/") }
        inDocC = definitions.filter { !$0.target.contains("/") }
        shown = Document.prose(of: article.path).flatMap { line in
            line.matches(of: /!\[([^\]]*)\]\[([^\]]+)\]/).map { (String($0.2), String($0.1)) }
        }
    }
}
