import Foundation
package import LocalSubstitution

/// The name of a kept response's file in the resources folder: `host/path/name.ext`.
///
/// It's readable and safe on every file system, including those that ignore letter case or Unicode normalization, and those of
/// Windows. A query becomes a short digest. Characters that a file system might not accept become `_`.
package struct RecordedFileName {
    private let host: String
    private let folders: [String]
    private let base: String
    private let fileExtension: String
    private let digest: String

    /// The longest segment, in UTF-8 bytes.
    static let longestSegment = 200
    /// The longest name, in UTF-8 bytes.
    static let longest = 1_000

    /// - Parameters:
    ///   - type: The MIME type that determines the extension if the URL's path has no known one; `nil` if there is none.
    ///   - bodyDigest: The digest of a body that replaces another, which becomes part of the name; `nil` for a URL's first body.
    package init(_ url: NormalizedURL, type: String?, bodyDigest: String? = nil) {
        digest = Digest.hexadecimal(of: Data((url.canonical + (bodyDigest.map { " \($0)" } ?? "")).utf8))
        host = Self.hostFolder(of: url)
        var segments = url.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { String(Substring($0)) }
        let last = segments.popLast() ?? ""
        folders = segments.map { Self.safe($0) }

        let name = last.isEmpty ? "index" : Self.safe(last)
        let own = MIMEType.fileExtension(of: name).flatMap { MIMEType.guess(forExtension: $0) == nil ? nil : $0 }
        // All known extensions are short, but the table may grow.
        fileExtension = String((own ?? MIMEType.preferredExtension(for: type ?? "")).prefix(20))
        var base = own.map { String(Substring(name.utf8.dropLast($0.utf8.count + 1))) } ?? name
        if url.query != nil { base += "-" + Digest.hexadecimal(of: Data(url.canonical.utf8)).prefix(8) }
        if let bodyDigest { base += "-" + bodyDigest.prefix(8) }
        self.base = base
    }

    /// Returns the first folder in the names of all files for a URL's host and port.
    package static func hostFolder(of url: NormalizedURL) -> String {
        let host = url.host.filter { $0 != "[" && $0 != "]" }.map { $0 == ":" ? "-" : $0 }
        return safe(String(host) + (url.hasDefaultPort ? "" : "_\(url.port)"))
    }

    /// Returns a candidate for the name. A higher number's candidate is more likely to be free.
    ///
    /// - Parameter number: Any number from 0. The candidate for 0 is the most readable.
    package func candidate(_ number: Int) -> String {
        switch number {
        case 0: return named("")
        case 1: return named("-\(digest.prefix(8))")
        case 2: return named("-\(digest)")
        case 3: return "\(host)/\(digest).\(fileExtension)"
        default: return "\(host)-\(digest.prefix(8))/\(digest)-\(number).\(fileExtension)"
        }
    }

    private func named(_ suffix: String) -> String {
        let ending = suffix + "." + fileExtension
        let name = ([host] + folders + [Self.cut(base, to: Self.longestSegment - ending.utf8.count) + ending])
            .joined(separator: "/")
        return name.utf8.count > Self.longest ? "\(host)/\(digest)\(suffix).\(fileExtension)" : name
    }

    /// Returns a segment of a path, decoded, with unsafe characters replaced.
    private static func safe(_ segment: String) -> String {
        // Most segments are safe as they are. Without other characters, a device's name has three or four.
        let (count, isPlain) = (segment.utf8.count, segment.utf8.allSatisfy(plain.contains))
        if isPlain, 1...longestSegment ~= count, !(3...4 ~= count && isDevice(segment)) { return segment }
        let bytes = PercentEncoding.decode(segment.utf8)
        let text = String(utf8: bytes)?.precomposedStringWithCanonicalMapping ?? segment
        var scalars = String.UnicodeScalarView()
        // At the beginning, a mark would combine with the slash before it into one character.
        if let first = text.unicodeScalars.first, isMark(first) {
            scalars.append("_")
        }
        for scalar in text.unicodeScalars { scalars.append(isSafe(scalar) ? scalar : "_") }
        // Cut first, since the cut name may end in a period.
        var name = cut(String(scalars), to: longestSegment)
        if name.isEmpty { return "_" }
        if let last = name.unicodeScalars.last, last == "." || last == " " {
            let kept = name.unicodeScalars.reversed().drop { $0 == "." || $0 == " " }.reversed()
            name = String(String.UnicodeScalarView(kept)) + "_"
        }
        if let first = name.unicodeScalars.first, first == "." || first == " " {
            name = "_" + String(String.UnicodeScalarView(name.unicodeScalars.dropFirst()))
        }
        return isDevice(name) ? "_" + cut(name, to: longestSegment - 1) : name
    }

    private static let plain = AllowedBytes("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
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

    /// Returns whether Windows reserves a name for a device. It does so with any extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = String(name.prefix { $0 != "." }).asciiLowercased.trimmingCharacters(in: .whitespaces)
        if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(stem) { return true }
        guard stem.hasPrefix("com") || stem.hasPrefix("lpt"), stem.count == 4, let number = stem.last else {
            return false
        }
        return "0123456789¹²³".contains(number)
    }

    /// Returns a text cut between characters, with at most so many UTF-8 bytes. A digest of the whole text ends it, so that
    /// different texts remain different.
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

extension RecordedFileName {
    /// The reserved names of files and folders. Names that are the same on some file system count as the same.
    ///
    /// The names form a tree, and a lookup compares each segment of a name once. So its time is proportional to the
    /// name's length.
    package struct InUse: Sendable {
        /// A name in a folder.
        private struct Place: Hashable {
            /// The folder's number; 0 is the outermost folder.
            let folder: Int
            let name: String
        }

        private struct Folder {
            let number: Int
            /// The folder's path, spelled as in the first reserved name that has it.
            let spelling: Substring
        }

        private var files: Set<Place> = []
        private var folders: [Place: Folder] = [:]

        package init() {}

        /// Reserves a name, and returns it with known folders in their existing spelling. Returns `nil` if the name
        /// isn't free.
        package mutating func take(_ name: String) -> String? {
            let (folder, rest, isBehindFile) = folder(of: name)
            guard let next = rest.first, !isBehindFile else { return nil }
            let place = Place(folder: folder.number, name: Self.folded(next))
            // In a new folder, every name is free.
            if files.contains(place) || (rest.count == 1 && folders[place] != nil) { return nil }
            let name = ((folder.number == 0 ? [] : [folder.spelling]) + rest).joined(separator: "/")
            insert(name)
            return name
        }

        /// Reserves the first candidate that is free, and returns it.
        ///
        /// - Parameter exists: Returns whether something already has a name, although it wasn't reserved.
        package mutating func take(_ name: RecordedFileName, unless exists: (String) -> Bool = { _ in false }) -> String
        {
            var number = 0
            while true {
                if let free = take(name.candidate(number)), !exists(free) { return free }
                number += 1
            }
        }

        /// Reserves the name of an existing file, even if the same name is already reserved.
        package mutating func insert(_ name: String) {
            var (folder, rest, _) = folder(of: name)
            while rest.count > 1, let segment = rest.popFirst() {
                let place = Place(folder: folder.number, name: Self.folded(segment))
                folder = Folder(number: folders.count + 1, spelling: name[..<segment.endIndex])
                folders[place] = folder
            }
            for file in rest { files.insert(Place(folder: folder.number, name: Self.folded(file))) }
        }

        package mutating func release(_ name: String) {
            let (folder, rest, _) = folder(of: name)
            guard rest.count == 1, let file = rest.first else { return }
            files.remove(Place(folder: folder.number, name: Self.folded(file)))
        }

        /// Returns the deepest known folder on the path of a file, the remaining segments of the name, and whether a
        /// file has the same name as one of the folders in the path.
        private func folder(of name: String) -> (Folder, rest: ArraySlice<Substring>, isBehindFile: Bool) {
            var folder = Folder(number: 0, spelling: "")
            var rest = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .map { Substring($0) }[...]
            var isBehindFile = false
            while rest.count > 1, let segment = rest.first {
                let place = Place(folder: folder.number, name: Self.folded(segment))
                guard let next = folders[place] else { break }
                isBehindFile = isBehindFile || files.contains(place)
                folder = next
                rest.removeFirst()
            }
            return (folder, rest, isBehindFile)
        }

        package static func folded(_ name: some StringProtocol) -> String {
            if name.utf8.allSatisfy({ $0 < 0x80 }) { return String(name).asciiLowercased }
            return name.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
                .decomposedStringWithCompatibilityMapping
        }
    }
}
