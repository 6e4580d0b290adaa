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
    ///   - resources: The folder with the entries' files. If it's `nil`, the one that a map finds beside itself.
    case file(_ path: String, _ bundle: Bundle? = nil, resources: String?, testFile: String)
    /// A map in a bundle.
    ///
    /// - Parameter name: The map's name, without the extension `json`.
    case bundle(Bundle, name: String, testFile: String)
    /// Entries in code.
    ///
    /// - Parameter resources: The folder with the entries' files; `nil` if the test doesn't specify one.
    case entries(KeyValuePairs<String, SubstitutionMap.Answer>, resources: String?, testFile: String)

    /// The map's file if it's an HTTP archive; otherwise `nil`.
    var archive: URL? { named.flatMap { Self.isArchive($0) ? $0 : nil } }

    /// The file at the map's path, even if it doesn't exist; `nil` for a bundle and for entries in code.
    private var named: URL? {
        guard case .file(let path, _, _, let testFile) = self else { return nil }
        return Self.url(path, beside: testFile)
    }

    /// The path of the file with the trait or the call.
    var testFile: String {
        switch self {
        case .file(_, _, _, let file), .bundle(_, _, let file), .entries(_, _, let file): file
        }
    }

    private var bundle: Bundle? {
        switch self {
        case .file(_, let bundle, _, _): bundle
        case .bundle(let bundle, _, _): bundle
        case .entries: nil
        }
    }

    /// The folder with the recordings of tests with this map: `recorded`, beside the map or, without a map's path, in the
    /// folder `Fixtures` beside the test's file.
    var recordings: URL {
        let folder = named?.deletingLastPathComponent() ?? Self.url("Fixtures", beside: testFile)
        return folder.appendingPathComponent("recorded", isDirectory: true)
    }

    /// Loads a test's recording; `nil` if there's none. If there's no file at its place, looks in the bundle.
    ///
    /// - Throws: An error if the recording can't be used.
    func recorded(
        at place: RecordingPlace,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap? {
        if let map = try Self.recorded(place.file, place.bodies, handlers) { return map }
        // A recording run changes only the recording in the source folder.
        guard let bundle, !RecordingMode.isOn else { return nil }
        let path =
            if case .file(let path, _, _, _) = self, let slash = path.lastIndex(of: "/") {
                path[...slash] + "recorded/\(place.path)"
            } else {
                "Fixtures/recorded/\(place.path)"[...]
            }
        // Without its folders, another test's recording could have the same name.
        guard let copy = Self.find(String(path), in: bundle, atLeast: 3) else { return nil }
        return try Self.recorded(copy, copy.deletingPathExtension(), handlers)
    }

    private static func recorded(
        _ file: URL,
        _ bodies: URL,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap? {
        guard FileStatus(path: file.path) != nil else { return nil }
        do {
            return try SubstitutionMap(contentsOf: file, resources: bodies, handlers: handlers)
        } catch {
            throw RecordedMap.unusable(file, error)
        }
    }

    /// The folder with the entries' files; `nil` if the test doesn't specify one.
    var resources: URL? {
        switch self {
        case .file(_, _, let path, let testFile), .entries(_, let path, let testFile):
            path.map { Self.url($0, beside: testFile) }
        case .bundle: nil
        }
    }

    /// A relative path starts at the folder of the test's file.
    static func url(_ path: String, beside testFile: String) -> URL {
        guard !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent(path)
            .standardizedFileURL
    }

    /// Whether the test names a map file that doesn't exist.
    private var isMissing: Bool {
        guard case .file(let path, let bundle, _, _) = self, let named,
            !FileManager.default.fileExists(atPath: named.path)
        else { return false }
        return bundle.flatMap { Self.find(path, in: $0) } == nil
    }

    /// Whether the test names a map file that doesn't exist, but needs none: in a recording run, or since it has a
    /// recording.
    func isDispensable(_ recording: Recording?) -> Bool {
        archive == nil && (RecordingMode.isOn || recording?.map != nil) && isMissing
    }

    /// - Parameter handlers: The closures that entries name in their field `handler`. Archives and entries in code
    ///   ignore them.
    /// - Throws: An error if the map is missing or invalid, or if the environment variable that turns on recording has
    ///   an invalid value.
    func load(_ handlers: [String: SubstitutionMap.Handler]) throws -> SubstitutionMap {
        if let problem = RecordingMode.problem { throw Complaint(problem) }
        switch self {
        case .file(let path, let bundle, let folder, let testFile):
            let file = Self.url(path, beside: testFile)
            if let bundle, !FileManager.default.fileExists(atPath: file.path) {
                return try Self.load(path, in: bundle, resources: folder, handlers)
            }
            return try Self.load(file, resources: resources, handlers)
        case .bundle(let bundle, let name, _):
            return try SubstitutionMap(bundle: bundle, named: name, handlers: handlers)
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

    /// The kind of a complaint that a bundle has no map, or not all of its files.
    private static let inBundle = "inBundle"

    /// Returns whether an error is about the map. Other complaints are about the test's recording.
    private static func isAboutMap(_ error: any Error) -> Bool {
        (error as? Complaint).map { $0.kind == inBundle } ?? true
    }

    private static func isArchive(_ file: URL) -> Bool { file.path.lowercased().hasSuffix(".har") }

    /// Loads a map that a bundle contains.
    ///
    /// - Parameters:
    ///   - path: The path of the map in the source folder, as the test writes it. The bundle may contain the map
    ///     without its folder.
    ///   - resources: The folder with the entries' files. If it's `nil`, the one that the map finds beside itself.
    /// - Throws: An error if the bundle doesn't contain the map or the entries' files, or if the map is invalid.
    private static func load(
        _ path: String,
        in bundle: Bundle,
        resources: String?,
        _ handlers: [String: SubstitutionMap.Handler]
    ) throws -> SubstitutionMap {
        guard let file = find(path, in: bundle) else {
            let beginning = "There's no map “\(path)” beside the test's file or in the bundle “\(bundle.bundlePath)”."
            throw Complaint(kind: Self.inBundle, "\(beginning) \(SubstitutionMap.bundleFix)")
        }
        do {
            let resources = resources.map { find($0, in: bundle) ?? url($0, beside: file.path) }
            return try load(file, resources: resources, handlers)
        } catch let error as SubstitutionMapError
            where error.problems.contains(where: { [.missingFile, .noResources].contains($0.kind) })
        {
            let end = "The bundle “\(bundle.bundlePath)” contains the map, but not all of its entries' files."
            throw Complaint(kind: Self.inBundle, "\(error)\n\(end) \(SubstitutionMap.bundleFix)")
        }
    }

    /// Finds a file or folder in a bundle. Tries the whole path first, then leaves out one outer folder after another.
    /// Returns `nil` if the bundle contains none of these paths.
    ///
    /// - Parameter fewest: The least number of components to look for; 1 by default.
    private static func find(_ path: String, in bundle: Bundle, atLeast fewest: Int = 1) -> URL? {
        let components = inner(path)
        // The bundle may be a plain folder with maps and `Resources`. Foundation may then take `Resources` for the
        // bundle's resources, so look in the folder itself, too.
        let roots = [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
        return components.indices.dropLast(fewest - 1).lazy.flatMap { index in
            roots.map { $0.appendingPathComponent(components[index...].joined(separator: "/")) }
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Returns the components of a path. Leaves out `..` and `.` at the beginning, which a bundle doesn't have.
    private static func inner(_ path: String) -> ArraySlice<Substring> {
        path.split(separator: "/").drop { $0 == ".." || $0 == "." }
    }

    /// Returns the description of an error from loading the map. If a map named by its path doesn't exist, says how to
    /// record the test's responses first, since the map may be for a recording, and names the nearest existing map. In a
    /// recording run, adds nothing.
    func explanation(of error: any Error, in test: SubstitutionScope.TestName) -> String {
        guard RecordingMode.problem == nil, !RecordingMode.isOn, archive == nil, isMissing,
            Self.isAboutMap(error),
            case .file(let path, _, _, let testFile) = self
        else { return "\(error)" }
        let question = NearestMap.path(insteadOf: path, beside: testFile).map { " Did you mean “\($0)”?" } ?? ""
        let command = "  record it:    \(RecordingMode.command(test.filter))"
        let problem = "\(error)"
        guard problem.hasSuffix(MapFile.otherPath) else {
            return "\(problem)\(question) Otherwise, record the test's responses.\n\(command)"
        }
        let statement = problem.dropLast(MapFile.otherPath.count)
        return "\(statement)Record the test's responses, or use the path of an existing map.\(question)\n\(command)"
    }
}
#endif
