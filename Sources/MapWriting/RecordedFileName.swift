import Foundation
import HTTPSyntax
package import LocalSubstitution

/// The name of a recorded response's file in the resources folder: `host/path/name.ext`.
///
/// It's readable and safe on every file system, including those of Windows, and those that ignore letter case or
/// Unicode normalization. A query becomes a short digest. Characters that a file system might not accept become `_`.
package struct RecordedFileName {
    private let host: String
    private let folders: [String]
    private let base: String
    private let fileExtension: String
    /// The URL and the body's digest, from which ``digest`` is made.
    private let source: String

    /// The limit for a folder's name, and for the last part of the file's name, in UTF-8 bytes.
    static let longestSegment = 200
    /// The limit for the whole name with its folders, in UTF-8 bytes.
    static let longest = 1_000

    /// - Parameters:
    ///   - type: The response's MIME type; `nil` if it isn't known. It determines the extension if the URL's path has
    ///     no known extension. If the type isn't known either, the extension is `bin`.
    ///   - bodyDigest: A digest that distinguishes several bodies for the URL. Its beginning becomes part of the name.
    ///     `nil`, the default, for a name without a digest.
    package init(_ url: NormalizedURL, type: String?, bodyDigest: String? = nil) {
        source = url.canonical + (bodyDigest.map { " \($0)" } ?? "")
        host = Self.hostFolder(of: url)
        var segments = url.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
            .map { String(Substring($0)) }
        let last = segments.popLast() ?? ""
        folders = segments.map { Self.safe($0) }

        let name = last.isEmpty ? "index" : Self.safe(last)
        let own = MIMEType.fileExtension(of: name).flatMap { MIMEType.guess(forExtension: $0) == nil ? nil : $0 }
        // All known extensions are shorter than 20 characters, but the table may grow.
        fileExtension = String((own ?? Self.preferredExtension(for: type ?? "")).prefix(20))
        var base = own.map { String(Substring(name.utf8.dropLast($0.utf8.count + 1))) } ?? name
        if url.query != nil { base += "-" + Digest.hexadecimal(of: Data(url.canonical.utf8)).prefix(8) }
        if let bodyDigest { base += "-" + bodyDigest.prefix(8) }
        self.base = base
    }

    /// A digest that distinguishes the file from those of other URLs and bodies.
    private var digest: String { Digest.hexadecimal(of: Data(source.utf8)) }

    /// Returns the name of the folder for a URL's host and port, such as `example.com` or `localhost_8080`. It's never
    /// the name of a resources folder: beside a map, that would change where the map's files are.
    package static func hostFolder(of url: NormalizedURL) -> String {
        let host = url.host.utf8.filter { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
            .map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "-") : $0 }
        let name = safe(String(decoding: host, as: UTF8.self) + (url.hasDefaultPort ? "" : "_\(url.port)"))
        return ResourcesFolder.standardNames.contains { $0.asciiLowercased == name } ? "\(name)_" : name
    }

    /// Returns a name for the file. Try the names in order until one is free.
    ///
    /// - Parameter number: The number of the try, from 0. The name for 0 is the most readable one.
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

    /// Returns a name for a segment of a URL's path: percent-decoded, and safe on every file system.
    private static func safe(_ segment: String) -> String {
        // Most segments are safe unchanged.
        let period = UInt8(ascii: ".")
        if 1...longestSegment ~= segment.utf8.count, segment.utf8.allSatisfy(plain.contains),
            segment.utf8.first != period, segment.utf8.last != period, !isDevice(segment)
        {
            return segment
        }
        let bytes = PercentEncoding.decode(segment.utf8)
        let text = String(utf8: bytes)?.precomposedStringWithCanonicalMapping ?? segment
        var scalars = String.UnicodeScalarView()
        // At the beginning, a combining mark would form one character with the slash before it.
        if let first = text.unicodeScalars.first, isMark(first) {
            scalars.append("_")
        }
        for scalar in text.unicodeScalars { scalars.append(isSafe(scalar) ? scalar : "_") }
        // Cut first, so that the cut name's digest covers the whole segment.
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

    private static let plain = PercentEncoding.AllowedBytes(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
    )

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

    /// Returns whether Windows reserves a name for a device, such as `con` or `con.txt`.
    private static func isDevice(_ name: String) -> Bool {
        let stem = String(Substring(name.utf8.prefix { $0 != UInt8(ascii: ".") })).asciiLowercased
            .trimmingCharacters(in: .whitespaces)
        if ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"].contains(stem) { return true }
        guard stem.hasPrefix("com") || stem.hasPrefix("lpt"), stem.count == 4, let number = stem.last else {
            return false
        }
        return "0123456789¹²³".contains(number)
    }

    /// Shortens a text to at most `limit` UTF-8 bytes. A longer text is cut between characters and ends in a digest of
    /// the whole text, so that different texts stay different.
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

/// File extensions for MIME types.
extension RecordedFileName {
    /// Returns the usual extension for files of a type, such as `html` for `text/html`. For an unknown type, returns
    /// `json`, `xml` or `txt` if the type's name shows that it's JSON, XML or text, and otherwise `bin`.
    ///
    /// - Parameter type: A MIME type, in uppercase or lowercase, with or without parameters.
    private static func preferredExtension(for type: String) -> String {
        let type = MIMEType.essence(of: type)
        if let known = preferredExtensions[type] ?? extensionsByType[type] { return known }
        if MIMEType.isJSON(type) { return "json" }
        if type.hasSuffix("+xml") { return "xml" }
        return type.hasPrefix("text/") ? "txt" : "bin"
    }

    /// The usual extensions of types that the table lists with another extension first, and of
    /// nonstandard types that some servers send.
    private static let preferredExtensions = [
        "application/javascript": "js", "application/octet-stream": "bin", "application/pdf": "pdf",
        "application/x-javascript": "js", "application/xml": "xml", "application/zip": "zip", "audio/mp4": "m4a",
        "audio/mpeg": "mp3", "audio/ogg": "ogg", "font/otf": "otf", "font/ttf": "ttf", "image/jpeg": "jpg",
        "image/svg+xml": "svg", "image/tiff": "tiff", "image/x-icon": "ico", "text/html": "html",
        "text/javascript": "js", "text/markdown": "md", "text/plain": "txt", "text/xml": "xml", "video/mp4": "mp4",
        "video/mpeg": "mpeg", "video/quicktime": "mov", "application/x-font-woff": "woff",
        "application/font-woff": "woff",
        "application/font-woff2": "woff2",
    ]

    /// The alphabetically first extension of each type in the table.
    private static let extensionsByType = Dictionary(MIMEType.types.map { ($0.value, $0.key) }, uniquingKeysWith: min)
}

extension RecordedFileName {
    /// The reserved names of files and folders. Two names are the same if at least one file system can't tell them
    /// apart.
    ///
    /// The names form a tree. A lookup compares each segment of a name once, so its time grows only with the name's
    /// length.
    package struct InUse: Sendable {
        /// A name in a folder.
        private struct Place: Hashable {
            /// The folder's number; 0 is the outermost folder.
            let folder: Int
            let name: String
        }

        private struct Folder {
            let number: Int
            /// The folder's path, spelled as in the first reserved name that has the folder.
            let spelling: Substring
        }

        private var files: Set<Place> = []
        private var folders: [Place: Folder] = [:]

        package init() {}

        /// Reserves a file's name. Returns the name, with each folder spelled as in the first reserved name that has
        /// the folder. Returns `nil` if the name isn't free, or if one of its folders has the name of a reserved file.
        package mutating func take(_ name: String) -> String? {
            let (folder, rest, isBehindFile) = folder(of: name)
            guard let next = rest.first, !isBehindFile else { return nil }
            let place = Place(folder: folder.number, name: Self.folded(String(next)))
            // In a new folder, every name is free.
            if files.contains(place) || (rest.count == 1 && folders[place] != nil) { return nil }
            let name = ((folder.number == 0 ? [] : [folder.spelling]) + rest).joined(separator: "/")
            insert(name)
            return name
        }

        /// Reserves the first candidate for a name that is free, and returns it.
        ///
        /// - Parameter exists: Returns whether a name is taken although it isn't reserved. By default, no such name is
        ///   taken.
        package mutating func take(_ name: RecordedFileName, unless exists: (String) -> Bool = { _ in false }) -> String
        {
            var number = 0
            while true {
                if let free = take(name.candidate(number)), !exists(free) { return free }
                number += 1
            }
        }

        /// The name may already be reserved.
        package mutating func insert(_ name: String) {
            var (folder, rest, _) = folder(of: name)
            while rest.count > 1, let segment = rest.popFirst() {
                let place = Place(folder: folder.number, name: Self.folded(String(segment)))
                folder = Folder(number: folders.count + 1, spelling: name[..<segment.endIndex])
                folders[place] = folder
            }
            for file in rest { files.insert(Place(folder: folder.number, name: Self.folded(String(file)))) }
        }

        /// The name's folders keep their spelling.
        package mutating func release(_ name: String) {
            let (folder, rest, _) = folder(of: name)
            guard rest.count == 1, let file = rest.first else { return }
            files.remove(Place(folder: folder.number, name: Self.folded(String(file))))
        }

        /// Returns the deepest known folder on the path of a file, the rest of the name below that folder, and whether
        /// the path goes through the name of a file.
        private func folder(of name: String) -> (Folder, rest: ArraySlice<Substring>, isBehindFile: Bool) {
            var folder = Folder(number: 0, spelling: "")
            var rest = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .map { Substring($0) }[...]
            var isBehindFile = false
            while rest.count > 1, let segment = rest.first {
                let place = Place(folder: folder.number, name: Self.folded(String(segment)))
                guard let next = folders[place] else { break }
                isBehindFile = isBehindFile || files.contains(place)
                folder = next
                rest.removeFirst()
            }
            return (folder, rest, isBehindFile)
        }

        /// Returns a name in the form in which names are compared: without letter case, and in one
        /// Unicode normalization.
        package static func folded(_ name: String) -> String {
            if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.asciiLowercased }
            return name.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
                .decomposedStringWithCompatibilityMapping
        }
    }
}
