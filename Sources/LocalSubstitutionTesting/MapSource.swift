#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

/// Where the map of a trait or of `withSubstitutions` comes from. Relative paths start at the folder of the test's file.
enum MapSource: Sendable {
    /// - Parameters:
    ///   - bundle: The bundle to load the map from if there's no file at the path.
    ///   - resources: The folder with the entries' files, if the test specifies one; otherwise, `nil`.
    case file(_ path: String, _ bundle: Bundle? = nil, resources: String?, testFile: String)
    /// - Parameter module: The name of the test's module, whose bundle is `.module`.
    case bundle(Bundle, name: String, module: String)
    case entries(KeyValuePairs<String, SubstitutionMap.Answer>, resources: String?, testFile: String)

    /// The map's file, to which a recording run adds entries; `nil` if it can't add any to this source.
    var file: URL? { named.flatMap { Self.isArchive($0) ? nil : $0 } }

    /// The HTTP archive that is used as the map; `nil` if the map isn't an archive.
    var archive: URL? { named.flatMap { Self.isArchive($0) ? $0 : nil } }

    /// The file at the path in the test; `nil` if the test doesn't name the map by its path.
    private var named: URL? {
        guard case .file(let path, _, _, let testFile) = self else { return nil }
        return Self.url(path, beside: testFile)
    }

    /// The folder with the entries' files, if the test specifies one; otherwise, `nil`.
    var resources: URL? {
        switch self {
        case .file(_, _, let path, let testFile), .entries(_, let path, let testFile):
            path.map { Self.url($0, beside: testFile) }
        case .bundle: nil
        }
    }

    static func url(_ path: String, beside testFile: String) -> URL {
        guard !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent(path)
            .standardizedFileURL
    }

    /// Loads the map.
    ///
    /// - Parameter isRecorded: Whether a recording run adds to the map.
    /// - Throws: An error that says what's wrong with the map, or with the environment variable that turns on
    ///   recording.
    func load(_ handlers: [String: SubstitutionMap.Handler], isRecorded: Bool) throws -> SubstitutionMap {
        if let problem = Recording.problem { throw SubstitutionScope.Failure([problem]) }
        if Recording.isOn, let file {
            return try Recording.map(file, resources: resources, handlers, isRecorded: isRecorded)
        }
        switch self {
        case .file(let path, let bundle, let folder, let testFile):
            let file = Self.url(path, beside: testFile)
            if let bundle, !FileManager.default.fileExists(atPath: file.path) {
                return try Self.load(path, in: bundle, resources: folder, handlers)
            }
            return try Self.load(file, resources: resources, handlers)
        case .bundle(let bundle, let name, let module):
            do {
                return try SubstitutionMap(bundle: bundle, named: name, handlers: handlers)
            } catch {
                guard let advice = NearestMap.advice(on: name, missingIn: bundle, module: module) else { throw error }
                throw SubstitutionScope.Failure([advice])
            }
        case .entries(let entries, _, _):
            return try SubstitutionMap(entries, resources: resources)
        }
    }

    private static func load(
        _ file: URL,
        resources: URL?,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap {
        isArchive(file)
            ? try HTTPArchive(contentsOf: file).map()
            : try SubstitutionMap(contentsOf: file, resources: resources, handlers: handlers)
    }

    private static func isArchive(_ file: URL) -> Bool { file.path.lowercased().hasSuffix(".har") }

    /// Loads the copy of a map that a bundle contains.
    ///
    /// - Parameter path: The path of the original map, relative to the folder of the test's file. The bundle may
    ///   contain the map without its folder.
    private static func load(
        _ path: String,
        in bundle: Bundle,
        resources: String?,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap {
        let folder = inner(path).dropLast().joined(separator: "/")
        let advice = "Write .copy(\"\(folder.isEmpty ? "Fixtures" : folder)\") in the target's resources."
        guard let file = find(path, in: bundle) else {
            let beginning = "There's no map “\(path)” beside the test's file or in the bundle “\(bundle.bundlePath)”."
            throw SubstitutionScope.Failure(["\(beginning) \(advice)"])
        }
        do {
            let resources = resources.map { find($0, in: bundle) ?? url($0, beside: file.path) }
            return try load(file, resources: resources, handlers)
        } catch let error as SubstitutionMapError
            where error.problems.contains(where: { [.missingFile, .noResources].contains($0.kind) })
        {
            let end = "The map is in the bundle “\(bundle.bundlePath)”, but not all its files are in its folder there."
            throw SubstitutionScope.Failure(["\(error)", "\(end) \(advice)"])
        }
    }

    /// Finds a file or folder in a bundle, first with all folders of its path, then with fewer and fewer of the outer
    /// ones. Returns `nil` if the bundle doesn't contain it.
    private static func find(_ path: String, in bundle: Bundle) -> URL? {
        let components = inner(path)
        // For a folder that isn't laid out as a bundle, Foundation may take its folder `Resources` for the bundle's.
        let roots = [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
        return components.indices.lazy.flatMap { index in
            roots.map { $0.appendingPathComponent(components[index...].joined(separator: "/")) }
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Returns the components of a path, without `..` and `.` at its beginning.
    private static func inner(_ path: String) -> ArraySlice<Substring> {
        path.split(separator: "/").drop { $0 == ".." || $0 == "." }
    }

    /// Describes what's wrong with the map. If its file doesn't exist, also says how to record it.
    func explanation(of error: any Error, in test: SubstitutionScope.TestName) -> String {
        guard Recording.problem == nil, !Recording.isOn, let file,
            case .file(let path, let bundle, _, let testFile) = self,
            !FileManager.default.fileExists(atPath: file.path),
            bundle.flatMap({ Self.find(path, in: $0) }) == nil
        else { return "\(error)" }
        let record = "record it:    \(Recording.command(test.filter))"
        guard let nearest = NearestMap(to: path, beside: testFile) else {
            return "\(error) Or record a new one.\n  \(record)"
        }
        let question = "\(error)\n  Did you mean “\(nearest.path)”?"
        // Recording would start a new map in a folder that was probably not meant.
        guard nearest.isMisspelled else {
            return "\(question) Otherwise, first start a new map: write {} into the missing file."
        }
        return "\(question) Otherwise, start a new map.\n  \(record)"
    }
}
#endif
