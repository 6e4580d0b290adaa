#if canImport(Testing)
package import Foundation
import LocalSubstitution

/// The existing map that a test probably means, if the path in the test leads to no file.
package struct NearestMap: Sendable {
    /// The path to write in the test, relative to the folder of the test's file.
    let path: String
    /// Whether the test's path has another file name than this map. If `false`, only the folder or the letter case
    /// differs.
    let isMisspelled: Bool

    /// Looks for a map in the package's top-level folder, such as `Tests`, that contains the test's file. In a test
    /// without a package, looks in the folder of the test's file. A map with the same name comes first, then one with a
    /// similar name.
    ///
    /// Returns `nil` if no map has such a name, or if the path is absolute: the test probably computes an absolute
    /// path, so it isn't misspelled.
    ///
    /// - Parameter path: The path in the test, relative to the folder of the test's file.
    init?(to path: String, beside testFile: String) {
        guard !path.hasPrefix("/") else { return nil }
        let folder = URL(fileURLWithPath: testFile).deletingLastPathComponent().standardizedFileURL
        let missing = MapSource.url(path, beside: testFile).path.lowercased()
        let name = (missing as NSString).lastPathComponent
        let files = Self.jsonFiles(in: Self.root(above: folder)).map { file in
            let path = Self.path(of: file, from: folder)
            return (file, path, steps: path.utf8.count { $0 == UInt8(ascii: "/") })
        }.sorted { ($0.steps, $0.1) < ($1.steps, $1.1) }.map(\.0)
        let sameName = files.filter { $0.lastPathComponent.lowercased() == name }
        let sameFile = sameName.filter { $0.path.lowercased() == missing }
        let same = (sameFile + sameName).first(where: Self.isMap)
        let nearest = same == nil ? NearestName.of(URL(fileURLWithPath: path).stem, in: files.map(\.stem)) : nil
        guard let file = same ?? files.first(where: { $0.stem == nearest && Self.isMap($0) }) else { return nil }
        self.path = Self.path(of: file, from: folder)
        isMisspelled = same == nil
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

    /// Returns the JSON files in a folder and its subfolders. Looks at no more than 20,000 files and folders.
    private static func jsonFiles(in folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(
            at: folder,
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        )
        return (all?.prefix(20_000).compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension.lowercased() == "json" }.map(\.standardizedFileURL)
    }

    /// Returns whether a JSON file is a map. A map with mistakes counts if at least one of its entries is valid.
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

    /// Returns a message that says how to correct the name or the bundle of a missing map.
    ///
    /// Returns `nil` if the bundle contains the map. Also returns `nil` if no correction is found: no other bundle
    /// contains the map, and this bundle has no JSON file with a similar name.
    ///
    /// - Parameters:
    ///   - name: The map's name in the test. The message corrects a name with the extension `.json`.
    ///   - bundle: The bundle that the test names.
    ///   - module: The name of the test's module. The message recommends `.module` if this module's bundle contains the
    ///     map.
    ///   - folders: The folders to search for other bundles. By default, ``bundleFolders``.
    package static func advice(
        on name: String,
        missingIn bundle: Bundle,
        module: String,
        folders: [URL] = bundleFolders
    ) -> String? {
        guard bundle.url(forResource: name, withExtension: "json") == nil else { return nil }
        let stem = name.lowercased().hasSuffix(".json") ? String(name.dropLast(5)) : name
        let beginning = "There's no map “\(name)” in the bundle “\(bundle.bundlePath)”."
        if stem != name, bundle.url(forResource: stem, withExtension: "json") != nil {
            return "\(beginning) Leave out the extension: write “named: \"\(stem)\"”."
        }
        let others = bundles(in: folders).filter { $0.url(forResource: stem, withExtension: "json") != nil }
            .map { $0.bundleURL.lastPathComponent }.sorted()
        if let own = others.first(where: { ($0 as NSString).deletingPathExtension.hasSuffix("_\(module)") }) {
            return "\(beginning) The target's own bundle “\(own)” has a map with this name. Pass it as “in: .module”."
        }
        if !others.isEmpty {
            let list = others.prefix(3).map { "“\($0)”" }.joined(separator: ", ")
            return "\(beginning) It's in \(list). Pass the bundle that you mean as “in:”."
        }
        let names = (bundle.urls(forResourcesWithExtension: "json", subdirectory: nil) ?? []).map { ($0 as URL).stem }
            .sorted()
        return NearestName.of(stem, in: names).map { "\(beginning) Did you mean “\($0)”? Write named: \"\($0)\"." }
    }

    /// The folders in which SwiftPM and Xcode put bundles: the main bundle, each loaded bundle, and for each of them
    /// the parent folder and the resources folder.
    package static var bundleFolders: [URL] {
        ([Bundle.main] + Bundle.allBundles).flatMap { bundle in
            [bundle.bundleURL, bundle.bundleURL.deletingLastPathComponent()] + (bundle.resourceURL.map { [$0] } ?? [])
        }
    }

    /// Returns the bundles directly in some folders. Ignores folders that can't be read.
    private static func bundles(in folders: [URL]) -> [Bundle] {
        let urls = Set(folders.map(\.standardizedFileURL)).flatMap { folder in
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        }
        let bundles = urls.filter { ["bundle", "resources", "xctest"].contains($0.pathExtension) }
        return Set(bundles.map(\.standardizedFileURL)).compactMap(Bundle.init(url:))
    }
}

extension URL {
    fileprivate var stem: String { deletingPathExtension().lastPathComponent }
}
#endif
