#if canImport(Testing)
import Foundation
import LocalSubstitution

/// The existing map that a test probably means, if the path in the test leads to no file.
enum NearestMap {
    /// Returns the path to write in the test. Looks for a map with the same or a similar file name in the package's
    /// top-level folder, such as `Tests`, that contains the test's file. In a test without a package, looks in the folder
    /// of the test's file.
    ///
    /// Returns `nil` if no map has such a name, or if the path is absolute: the test probably computes an absolute path,
    /// so it isn't misspelled.
    static func path(insteadOf path: String, beside testFile: String) -> String? {
        guard !path.hasPrefix("/") else { return nil }
        let folder = URL(fileURLWithPath: testFile).deletingLastPathComponent().standardizedFileURL
        // A path that differs only in letter case comes first, then the file that is the fewest folders away.
        let rank = { (other: String) in
            (other.lowercased() == path.lowercased() ? -1 : other.utf8.count { $0 == UInt8(ascii: "/") }, other)
        }
        let files = jsonFiles(in: root(above: folder)).map { (url: $0, path: Self.path(of: $0, from: folder)) }
            .sorted { rank($0.path) < rank($1.path) }
        let nearest = NearestName.of(URL(fileURLWithPath: path).stem, in: files.map(\.url.stem))
        return files.first { $0.url.stem == nearest && isMap($0.url) }?.path
    }

    /// Returns the package's top-level folder, such as `Tests`, that contains the given folder or is the given folder.
    /// Outside a package, returns the given folder.
    private static func root(above folder: URL) -> URL {
        let folders = sequence(first: folder) { $0.deletingLastPathComponent() }.prefix { $0.path != "/" }
        return folders.first {
            let manifest = $0.deletingLastPathComponent().appendingPathComponent("Package.swift")
            return FileManager.default.fileExists(atPath: manifest.path)
        } ?? folder
    }

    /// Also searches subfolders. Looks at no more than 20,000 files and folders.
    private static func jsonFiles(in folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(
            at: folder,
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        )
        return (all?.prefix(20_000).compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension.lowercased() == "json" }.map(\.standardizedFileURL)
    }

    /// A file with mistakes is a map, too, if at least one of its entries is valid.
    private static func isMap(_ file: URL) -> Bool {
        guard let map = try? SubstitutionMap(contentsOf: file, invalidEntries: .skip) else { return false }
        return map.count > 0 || map.problems.isEmpty
    }

    /// Returns the relative path of a file from a folder, with `..` for each folder to leave.
    private static func path(of file: URL, from folder: URL) -> String {
        let (file, folder) = (file.pathComponents, folder.pathComponents)
        let shared = zip(file, folder).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: folder.count - shared) + file.dropFirst(shared)).joined(separator: "/")
    }
}

extension URL {
    fileprivate var stem: String { deletingPathExtension().lastPathComponent }
}
#endif
