import Foundation

/// The name that a kept response's file gets in the resources folder: `host/path/name.ext`, readable, and safe on every file system.
///
/// Also where letter case or Unicode's composed forms don't count, and where Windows is to check it out. A query stands in it as
/// a short digest. What a file system would not take is `_`.
package struct RecordedFileName {
    private let host: String
    private let folders: [String]
    private let base: String
    private let fileExtension: String
    private let digest: String

    /// In UTF-8 bytes, of one segment.
    static let longestSegment = 200
    /// In UTF-8 bytes, of the whole name.
    static let longest = 1_000

    /// - Parameters:
    ///   - type: The MIME type that gives the extension where the URL's path has none that is known; `nil` if there is none.
    ///   - bodyDigest: That of the body, for one that replaces another; it then stands in the name.
    package init(_ url: NormalizedURL, type: String?, bodyDigest: String? = nil) {
        digest = Digest.hexadecimal(of: Data((url.canonical + (bodyDigest.map { " \($0)" } ?? "")).utf8))
        host = Self.hostFolder(of: url)
        var segments = url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        let last = segments.popLast() ?? ""
        folders = segments.map { Self.safe($0) }

        let name = last.isEmpty ? "index" : Self.safe(last)
        let own = MIMEType.fileExtension(of: name).flatMap { MIMEType.guess(forExtension: $0) == nil ? nil : $0 }
        fileExtension = own ?? MIMEType.preferredExtension(for: type ?? "")
        var base = own.map { String(name.dropLast($0.count + 1)) } ?? name
        if url.query != nil { base += "-" + Digest.hexadecimal(of: Data(url.canonical.utf8)).prefix(8) }
        if let bodyDigest { base += "-" + bodyDigest.prefix(8) }
        self.base = base
    }

    /// The first folder in the names of all files of a URL's host and port.
    static func hostFolder(of url: NormalizedURL) -> String {
        let defaultPort = URLParts.defaultPort(ofScheme: url.scheme)
        let host = url.host.filter { $0 != "[" && $0 != "]" }.map { $0 == ":" ? "-" : $0 }
        return safe(String(host) + (url.layout.port == defaultPort ? "" : "_\(url.layout.port)"))
    }

    /// The name to take if it is free, then others that are ever surer to be; endlessly many.
    package func candidate(_ number: Int) -> String {
        switch number {
        case 0: return named(in: folders, "")
        case 1: return named(in: folders, "-\(digest.prefix(8))")
        case 2: return named(in: folders, "-\(digest)")
        case 3: return "\(host)/\(digest).\(shortExtension)"
        default: return "\(host)-\(digest.prefix(8))/\(digest)-\(number).\(shortExtension)"
        }
    }

    private func named(in folders: [String], _ suffix: String) -> String {
        let ending = suffix + "." + shortExtension
        let name = ([host] + folders + [Self.cut(base, to: Self.longestSegment - ending.utf8.count) + ending])
            .joined(separator: "/")
        return name.utf8.count > Self.longest ? "\(host)/\(digest)\(suffix).\(shortExtension)" : name
    }

    /// An extension that is known is short; this is for those of a table yet to come.
    private var shortExtension: String { String(fileExtension.prefix(20)) }

    /// A segment of a path, decoded, with what is not safe replaced.
    private static func safe(_ segment: String) -> String {
        let bytes = PercentEncoding.decode(segment.utf8)
        let text = String(utf8: bytes)?.precomposedStringWithCanonicalMapping ?? segment
        var scalars = String.UnicodeScalarView()
        // A mark at the beginning would make one character of itself and the slash before it.
        if let first = text.unicodeScalars.first, isMark(first) {
            scalars.append("_")
        }
        for scalar in text.unicodeScalars { scalars.append(isSafe(scalar) ? scalar : "_") }
        // Before the rest, since what is cut may end in a full stop.
        var name = cut(String(scalars), to: longestSegment)
        if name.isEmpty { return "_" }
        if let last = name.unicodeScalars.last, last == "." || last == " " { name = replacingLast(of: name) }
        if let first = name.unicodeScalars.first, first == "." || first == " " {
            name = "_" + String(String.UnicodeScalarView(name.unicodeScalars.dropFirst()))
        }
        return isDevice(name) ? "_" + cut(name, to: longestSegment - 1) : name
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    private static func replacingLast(of name: String) -> String {
        let kept = name.unicodeScalars.reversed().drop { $0 == "." || $0 == " " }.reversed()
        return String(String.UnicodeScalarView(kept)) + "_"
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.value >= 0x20 && scalar.value != 0x7F && !"<>:\"|?*\\/".unicodeScalars.contains(scalar)
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            return false
        default:
            return scalar != "\u{FFFD}" && !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// The names that Windows has for devices, with any extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = MIMEType.asciiLowercased(String(name.prefix { $0 != "." })).trimmingCharacters(in: .whitespaces)
        if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(stem) { return true }
        guard stem.hasPrefix("com") || stem.hasPrefix("lpt"), stem.count == 4, let number = stem.last else {
            return false
        }
        return "0123456789¹²³".contains(number)
    }

    /// At most so many UTF-8 bytes, cut between characters; what was cut off leaves a digest, so that two names stay two.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let ending = "-" + Digest.hexadecimal(of: Data(text.utf8)).prefix(12)
        var kept = ""
        for character in text {
            guard kept.utf8.count + character.utf8.count + ending.utf8.count <= limit else { break }
            kept.append(character)
        }
        return kept + ending
    }
}
