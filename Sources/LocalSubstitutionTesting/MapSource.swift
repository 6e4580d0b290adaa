#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

/// Where a trait or `withSubstitutions` gets its map. Relative paths start at the folder of the test's file.
enum MapSource: Sendable {
    /// A map file or an HTTP archive, named by its path.
    ///
    /// - Parameters:
    ///   - bundle: The bundle to load the map from if there's no file at the path; `nil` for the path alone.
    ///   - resources: The folder with the entries' files. If it's `nil`, the folder `Resources` beside the map; if that
    ///     doesn't exist, the map's own folder.
    case file(_ path: String, _ bundle: Bundle? = nil, resources: String?, testFile: String)
    /// A map in a bundle.
    ///
    /// - Parameters:
    ///   - name: The map's name, without the extension `json`.
    ///   - module: The name of the test's module. If this module's bundle contains the map, an error message recommends
    ///     `.module`.
    case bundle(Bundle, name: String, module: String)
    /// Entries in code.
    ///
    /// - Parameter resources: The folder with the entries' files; `nil` if the test doesn't specify one.
    case entries(KeyValuePairs<String, SubstitutionMap.Answer>, resources: String?, testFile: String)

    /// The map file that a recording run adds entries to; `nil` for a bundle, entries in code, and HTTP archives.
    var file: URL? { named.flatMap { Self.isArchive($0) ? nil : $0 } }

    /// The HTTP archive that answers requests; `nil` if the map isn't an archive.
    var archive: URL? { named.flatMap { Self.isArchive($0) ? $0 : nil } }

    /// The URL of the path in the test, whether or not a file exists there; `nil` for a bundle and for entries in code.
    private var named: URL? {
        guard case .file(let path, _, _, let testFile) = self else { return nil }
        return Self.url(path, beside: testFile)
    }

    /// The folder with the entries' files; `nil` if the test doesn't specify one.
    var resources: URL? {
        switch self {
        case .file(_, _, let path, let testFile), .entries(_, let path, let testFile):
            path.map { Self.url($0, beside: testFile) }
        case .bundle: nil
        }
    }

    /// Returns the URL of a path. A relative path starts at the folder of the test's file.
    static func url(_ path: String, beside testFile: String) -> URL {
        guard !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent(path)
            .standardizedFileURL
    }

    /// Loads the map. In a recording run, a map file is loaded as it was before the run, and a missing one is empty.
    ///
    /// - Parameters:
    ///   - handlers: The closures that entries name in their field `handler`. Archives and entries in code ignore them.
    ///   - isRecorded: Whether the test may add to the map in a recording run. This has no effect in other runs.
    /// - Throws: An error if the map is missing or invalid, if the environment variable that turns on recording has an
    ///   invalid value, or if another process records into the map.
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

    /// Loads a map file or an HTTP archive.
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

    /// Loads a bundle's copy of a map.
    ///
    /// - Parameters:
    ///   - path: The path of the map in the source folder, as the test writes it. The bundle may contain the map
    ///     without its folder.
    ///   - resources: The folder with the entries' files. If it's `nil`, the folder `Resources` beside the copy; if
    ///     that doesn't exist, the copy's own folder.
    /// - Throws: An error if the bundle doesn't contain the map or the entries' files, or if the map is invalid.
    private static func load(
        _ path: String,
        in bundle: Bundle,
        resources: String?,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap {
        let folder = inner(path).dropLast().joined(separator: "/")
        let advice = "Add .copy(\"\(folder.isEmpty ? "Fixtures" : folder)\") to the target's resources."
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
            let end = "The bundle “\(bundle.bundlePath)” contains the map, but not all of its entries' files."
            throw SubstitutionScope.Failure(["\(error)", "\(end) \(advice)"])
        }
    }

    /// Finds a file or folder in a bundle. Tries the whole path first, then leaves out one outer folder after another.
    /// Returns `nil` if the bundle contains none of these paths.
    private static func find(_ path: String, in bundle: Bundle) -> URL? {
        let components = inner(path)
        // The bundle may be a plain folder with maps and `Resources`. Foundation may then take `Resources` for the
        // bundle's resources, so look in the folder itself, too.
        let roots = [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
        return components.indices.lazy.flatMap { index in
            roots.map { $0.appendingPathComponent(components[index...].joined(separator: "/")) }
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Returns the components of a path. Leaves out `..` and `.` at the beginning, which a bundle doesn't have.
    private static func inner(_ path: String) -> ArraySlice<Substring> {
        path.split(separator: "/").drop { $0 == ".." || $0 == "." }
    }

    /// Returns the description of an error from loading the map. If a map named by its path doesn't exist, adds the
    /// nearest existing map, or how to record or start a new one. In a recording run, adds nothing.
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
        // The path's folder is probably wrong, and recording would create a map there.
        guard nearest.isMisspelled else {
            return "\(question) Otherwise, create the missing file with the text {}, then record into it."
        }
        return "\(question) Otherwise, start a new map.\n  \(record)"
    }
}
#endif
