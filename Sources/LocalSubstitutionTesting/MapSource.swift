#if canImport(Testing)
import Foundation
import LocalSubstitution

/// Where the map of a trait or of `withSubstitutions` comes from.
struct MapSource: Sendable {
    /// The map's file, which a recording run adds to; `nil` if the run can't add to the map.
    let file: URL?
    /// The folder with the entries' files, if the test names one.
    let resources: URL?
    /// The path of ``file`` as the test has it, and the test's file.
    private let written: (path: String, testFile: String)?
    private let loaded: @Sendable () throws -> SubstitutionMap

    init(
        file: URL?,
        resources: URL?,
        written: (path: String, testFile: String)? = nil,
        loaded: @escaping @Sendable () throws -> SubstitutionMap
    ) {
        self.file = file
        self.resources = resources
        self.written = written
        self.loaded = loaded
    }

    /// Returns the map that was probably meant, if there's none at ``file``.
    func nearest() -> NearestMap? { written.flatMap { NearestMap(to: $0.path, beside: $0.testFile) } }

    /// Loads the map.
    ///
    /// - Throws: An error that says what's wrong with the map, or with the variable that makes a run record.
    func load() throws -> SubstitutionMap {
        if let problem = Recording.problem { throw ScopeError(problems: [problem]) }
        return try loaded()
    }
}

extension MapSource {
    /// Creates a source for a map file. Relative paths start at the folder of the test's file.
    init(path: String, resources: String?, testFile: String) {
        let file = Self.url(path, beside: testFile)
        let folder = resources.map { Self.url($0, beside: testFile) }
        self.init(file: file, resources: folder, written: (path, testFile)) {
            try Recording.isOn
                ? Recording.map(file, resources: folder) : SubstitutionMap(contentsOf: file, resources: folder)
        }
    }

    /// Creates a source for a map in a bundle.
    ///
    /// - Parameter module: The test's module, whose own bundle is `.module`.
    init(named name: String, in bundle: Bundle, module: String) {
        self.init(file: nil, resources: nil) {
            do {
                return try SubstitutionMap(bundle: bundle, named: name)
            } catch {
                guard let advice = NearestMap.advice(on: name, missingIn: bundle, module: module) else { throw error }
                throw ScopeError(problems: [advice])
            }
        }
    }

    static func url(_ path: String, beside testFile: String) -> URL {
        guard !path.hasPrefix("/") else { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: testFile).deletingLastPathComponent().appendingPathComponent(path)
            .standardizedFileURL
    }
}
#endif
