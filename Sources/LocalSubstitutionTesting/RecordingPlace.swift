#if canImport(Testing)
import Foundation
import LocalSubstitution

/// Where a test's recording is: a map's file, and the folder beside it with the bodies.
struct RecordingPlace: Sendable, Hashable {
    /// The path of the map's file in the folder with all recordings, such as `ShopTests/Cart.signIn.json`.
    let path: String
    private let root: URL

    /// - Parameters:
    ///   - root: The folder with all recordings, such as `Fixtures/recorded`.
    ///   - sourceFile: The name of the test's source file, such as `ShopTests.swift`.
    ///   - components: The names of the suites and of the test, from the outermost suite to the test.
    init(in root: URL, sourceFile: String, components: [String]) {
        self.root = root
        let name = sourceFile.hasSuffix(".swift") ? String(sourceFile.dropLast(6)) : sourceFile
        // `..` would lead out of the folder.
        let folder = name.allSatisfy { $0 == "." } ? Self.name([name]) : name
        path = "\(folder)/\(Self.name(components)).json"
    }

    var file: URL { root.appendingPathComponent(path, isDirectory: false) }

    var bodies: URL { file.deletingPathExtension() }

    /// The paths of the file and of the folder with the bodies, as file systems that ignore letter case compare them. One
    /// test's folder can have the name of another test's file: the folder of `json()` in the suite `Decoding`, and the file
    /// of `decoding()`.
    var folded: [String] { [file, bodies].map { $0.path.lowercased() } }

    /// The longest name that isn't cut, in bytes.
    private static let longest = 100

    /// Returns the name of a test's file, without its extension.
    ///
    /// Letters, digits, `_` and `-` stay. Each run of other characters becomes `-`, but not at an end. If characters
    /// other than `(`, `)` and `:` are replaced, or if the name is too long, its first 100 bytes are used, followed by
    /// a digest of the whole name.
    static func name(_ components: [String]) -> String {
        let parts = components.map(part)
        let name = parts.map(\.text).filter { !$0.isEmpty }.joined(separator: ".")
        guard name.isEmpty || name.utf8.count > longest || parts.contains(where: \.isChanged) else { return name }
        var kept = String.UnicodeScalarView()
        var bytes = 0
        for scalar in name.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= longest else { break }
            kept.append(scalar)
        }
        let digest = Digest.hexadecimal(of: Data(components.joined(separator: ".").utf8)).prefix(8)
        return kept.isEmpty ? String(digest) : "\(String(kept))-\(digest)"
    }

    private static func part(_ component: String) -> (text: String, isChanged: Bool) {
        var text = String.UnicodeScalarView()
        var isChanged = false
        var isReplaced = false
        for scalar in component.precomposedStringWithCanonicalMapping.unicodeScalars {
            guard isKept(scalar) else {
                isReplaced = true
                if !"():".unicodeScalars.contains(scalar) { isChanged = true }
                continue
            }
            if isReplaced, !text.isEmpty { text.append("-") }
            isReplaced = false
            text.append(scalar)
        }
        return (String(text), isChanged)
    }

    private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "_" || scalar == "-" { return true }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber:
            return true
        default: return false
        }
    }

    /// Returns the names of the class and the method in the name of an XCTest test, such as `ShopTests.testSignIn` or, on
    /// Apple platforms, `-[ShopTests testSignIn]`.
    static func components(ofXCTest name: String) -> [String] {
        guard name.hasPrefix("-["), name.hasSuffix("]") else {
            return name.split(separator: ".").suffix(2).map(String.init)
        }
        let words = name.dropFirst(2).dropLast().split(separator: " ")
        return words.map { String($0.split(separator: ".").last ?? $0) }
    }
}
#endif
