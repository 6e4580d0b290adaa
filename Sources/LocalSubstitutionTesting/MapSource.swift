#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

/// Where the map of a trait or of `withSubstitutions` comes from. Relative paths start at the folder of the test's file.
enum MapSource: Sendable {
    /// - Parameter resources: The folder with the entries' files, if the test names one.
    case file(_ path: String, resources: String?, testFile: String)
    /// - Parameter module: The test's module, whose own bundle is `.module`.
    case bundle(Bundle, name: String, module: String)
    case entries(KeyValuePairs<String, SubstitutionMap.Answer>, resources: String?, testFile: String)

    /// The map's file, which a recording run adds to; `nil` if the run can't add to the map.
    var file: URL? {
        guard case .file(let path, _, let testFile) = self, archive == nil else { return nil }
        return Self.url(path, beside: testFile)
    }

    /// The HTTP archive that is the map; `nil` if none is.
    var archive: URL? {
        guard case .file(let path, _, let testFile) = self, path.lowercased().hasSuffix(".har") else { return nil }
        return Self.url(path, beside: testFile)
    }

    /// The folder with the entries' files, if the test names one.
    var resources: URL? {
        switch self {
        case .file(_, let path, let testFile), .entries(_, let path, let testFile):
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
    /// - Throws: An error that says what's wrong with the map, or with the variable that makes a run record.
    func load(_ handlers: [String: SubstitutionMap.Handler]) throws -> SubstitutionMap {
        if let problem = Recording.problem { throw SubstitutionScope.Failure([problem]) }
        if let archive { return try HTTPArchive(contentsOf: archive).map() }
        switch self {
        case .file(let path, _, let testFile):
            let file = Self.url(path, beside: testFile)
            return try Recording.isOn
                ? Recording.map(file, resources: resources, handlers)
                : SubstitutionMap(contentsOf: file, resources: resources, handlers: handlers)
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

    /// Describes what's wrong with the map and, if its file doesn't exist, how to record one.
    func explanation(of error: any Error, in test: SubstitutionScope.TestName) -> String {
        guard Recording.problem == nil, !Recording.isOn, archive == nil, case .file(let path, _, let testFile) = self,
            !FileManager.default.fileExists(atPath: Self.url(path, beside: testFile).path)
        else { return "\(error)" }
        let record = "record it:    \(Recording.command(test.filter))"
        guard let nearest = NearestMap(to: path, beside: testFile) else { return "\(error)\n  \(record)" }
        let question = "\(error)\n  Did you mean “\(nearest.path)”?"
        // Recording would start a new map in a folder that was probably not meant.
        guard nearest.isMisspelled else {
            return "\(question) Otherwise, first start a new map: write {} into the missing file."
        }
        return "\(question) Otherwise, start a new map.\n  \(record)"
    }
}
#endif
