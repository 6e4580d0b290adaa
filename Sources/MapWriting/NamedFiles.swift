package import Foundation
import LocalSubstitution

/// The files that the entries of a map name, even entries with mistakes. A writer neither removes nor overwrites them.
package struct NamedFiles: Sendable {
    /// Whether a key is a URL or a pattern. Without one, the document probably isn't a map.
    package private(set) var hasURLs = false
    /// How often entries name each file, by the file's folded name: see ``RecordedFileName/InUse/folded(_:)``.
    private var uses: [String: Int] = [:]
    /// The entries' file names with wildcards.
    private var globs: [Glob] = []
    /// Whether the map can't be read, or needs a newer version of the library. It may name any file then.
    private var mayNameAll: Bool

    package init(_ document: MapDocument) {
        mayNameAll = document.versionProblem != nil
        for key in document.values.keys where !key.hasPrefix("$") {
            noteURL(key)
            for file in document.files(of: key) {
                uses[RecordedFileName.InUse.folded(file), default: 0] += 1
                if FileName(text: file).hasWildcards { globs.append(Glob(Array(file.utf8))) }
            }
        }
    }

    /// Reads a file that may be a map. Returns `nil` if it certainly isn't one: it isn't a regular file, or it's valid JSON
    /// that isn't an object.
    private static func ofMap(_ file: URL) -> NamedFiles? {
        guard FileStatus(path: file.path)?.kind == .regular else { return nil }
        let json = (try? MapFile(file).json)?.withoutByteOrderMark ?? []
        if let document = try? MapDocument(json: json) { return NamedFiles(document) }
        guard !json.isOtherJSON else { return nil }
        var files = NamedFiles(MapDocument())
        files.mayNameAll = true
        // The members before a syntax error are known.
        try? JSONScanner(json).forEachMember { files.noteURL($0.key) }
        return files
    }

    private mutating func noteURL(_ key: String) {
        guard !hasURLs else { return }
        hasURLs = MapKey.isPattern(key) ? (try? MatchPattern(key)) != nil : (try? NormalizedURL(key)) != nil
    }

    /// Reads the other maps in a map's folder, which have the same resources folder.
    ///
    /// - Parameter ignored: The name of a file that is no map; `nil`, the default, for none.
    package static func ofOtherMaps(beside file: URL, except ignored: String? = nil) -> [NamedFiles] {
        MapFolder.otherMaps(beside: file).filter { $0.lastPathComponent != ignored }.compactMap(ofMap)
    }

    /// Returns whether an entry may return a file: it names the file, or its file name has wildcards and matches the
    /// file's name. If the map can't be read or needs a newer version of the library, any entry may.
    package func contains(_ file: String) -> Bool {
        mayNameAll || uses[RecordedFileName.InUse.folded(file)] != nil || hasPattern(matching: file)
    }

    /// Returns whether the entries name a file exactly once, and no file name with wildcards matches the file's name.
    package func containsOnce(_ file: String) -> Bool {
        !mayNameAll && uses[RecordedFileName.InUse.folded(file)] == 1 && !hasPattern(matching: file)
    }

    /// Returns whether an entry's file name with wildcards matches the name of a file.
    package func hasPattern(matching file: String) -> Bool {
        let bytes = Array(file.utf8)
        return globs.contains { $0.match(bytes[...]) != nil }
    }
}

extension [UInt8] {
    /// Whether the text is valid JSON, but not an object.
    fileprivate var isOtherJSON: Bool {
        withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes, isStrict: true)
            guard cursor.next != .object else { return false }
            do throws(Complaint) {
                try cursor.skip()
                try cursor.finish()
                return true
            } catch {
                return false
            }
        }
    }
}
