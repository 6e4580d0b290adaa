#if canImport(Testing)
import Foundation
import LocalSubstitution

/// Where the map of a trait or of `withSubstitutions` comes from.
struct MapSource: Sendable {
    /// The map's file, which a recording run adds to; `nil` if the run can't add to the map.
    let file: URL?
    /// The folder with the entries' files, if the test names one.
    let resources: URL?
    let load: @Sendable () throws -> SubstitutionMap
}

extension MapSource {
    /// Creates a source for a map file. Relative paths start at the folder of the test's file.
    init(path: String, resources: String?, testFile: String) {
        let file = Self.url(path, beside: testFile)
        let folder = resources.map { Self.url($0, beside: testFile) }
        self.init(file: file, resources: folder) {
            if Recording.isOn, !FileManager.default.fileExists(atPath: file.path) {
                return .empty
            }
            return try SubstitutionMap(contentsOf: file, resources: folder)
        }
    }

    /// Creates a source for a map in a bundle.
    init(named name: String, in bundle: Bundle) {
        self.init(file: nil, resources: nil) { try SubstitutionMap(bundle: bundle, named: name) }
    }

    static func url(_ path: String, beside testFile: String) -> URL {
        guard !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent(path)
            .standardizedFileURL
    }
}
#endif
