#if canImport(Testing)
package import Foundation
import LocalSubstitution

/// The map file that a test probably meant, if there's no file at the test's path.
package struct NearestMap: Sendable {
    /// The path to write in the test.
    let path: String
    /// Whether the file has a different name. Otherwise, it's in another folder, or its path differs only in letter
    /// case.
    let isMisspelled: Bool

    /// Looks for a map in the folders of the test's target and of the targets beside it.
    ///
    /// - Parameter path: A path relative to the folder of the test's file. An absolute path is probably computed, so it
    ///   has no nearest map.
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

    /// Returns the package's top-level folder that contains a test's file, such as `Tests`. Returns the file's own
    /// folder if it isn't in a package.
    private static func root(above folder: URL) -> URL {
        let folders = sequence(first: folder) { $0.deletingLastPathComponent() }.prefix { $0.path != "/" }
        return folders.first {
            let manifest = $0.deletingLastPathComponent().appendingPathComponent("Package.swift")
            return FileManager.default.fileExists(atPath: manifest.path)
        } ?? folder
    }

    private static func jsonFiles(in folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(
            at: folder,
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        )
        return (all?.prefix(20_000).compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension.lowercased() == "json" }.map(\.standardizedFileURL)
    }

    /// Returns whether a JSON file is a map, perhaps with mistakes, and not an entry's file.
    private static func isMap(_ file: URL) -> Bool {
        guard let map = try? SubstitutionMap(contentsOf: file, invalidEntries: .skip) else { return false }
        return map.count > 0 || map.problems.isEmpty
    }

    private static func path(of file: URL, from folder: URL) -> String {
        let (file, folder) = (file.pathComponents, folder.pathComponents)
        let shared = zip(file, folder).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: folder.count - shared) + file.dropFirst(shared)).joined(separator: "/")
    }

    /// Returns how to correct the name or the bundle of a missing map. Returns `nil` if the bundle contains the map, or
    /// if no other bundle contains it and this one has no file with a similar name.
    ///
    /// - Parameters:
    ///   - module: The name of the test's module, whose bundle is `.module`.
    ///   - folders: The folders to search for bundles.
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
            return "\(beginning) Leave out the extension: write named: \"\(stem)\"."
        }
        let others = bundles(in: folders).filter { $0.url(forResource: stem, withExtension: "json") != nil }
            .map { $0.bundleURL.lastPathComponent }.sorted()
        if let own = others.first(where: { ($0 as NSString).deletingPathExtension.hasSuffix("_\(module)") }) {
            return "\(beginning) The target's own bundle “\(own)” has one. Write in: .module."
        }
        if !others.isEmpty {
            let list = others.prefix(3).map { "“\($0)”" }.joined(separator: ", ")
            return "\(beginning) It's in \(list). Name that bundle."
        }
        let names = (bundle.urls(forResourcesWithExtension: "json", subdirectory: nil) ?? []).map { ($0 as URL).stem }
            .sorted()
        return NearestName.of(stem, in: names).map { "\(beginning) Did you mean “\($0)”? Write named: \"\($0)\"." }
    }

    /// The folders in which SwiftPM and Xcode put bundles: those of the test's executable and of loaded bundles, their
    /// parent folders, and the bundles' resources.
    package static var bundleFolders: [URL] {
        ([Bundle.main] + Bundle.allBundles).flatMap { bundle in
            [bundle.bundleURL, bundle.bundleURL.deletingLastPathComponent()] + (bundle.resourceURL.map { [$0] } ?? [])
        }
    }

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
