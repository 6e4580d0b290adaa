public import Foundation
import Guarded

/// A map of remote URLs to local files: the contents of `substitutions.json`, checked and indexed.
///
/// A value: copying it costs nothing, and nothing changes it.
public struct SubstitutionMap: Sendable {
    /// What is wrong with entries that are left out, where the map was loaded with `strict: false`; else empty.
    public let problems: [SubstitutionMapError.Problem]

    let storage: Storage

    final class Storage: Sendable {
        let index: MapIndex
        let filesLeftOut: [FileName]
        let folder: ResourcesFolder?
        /// `nil` for a map that was not loaded from a file.
        let source: Source?

        init(_ loaded: MapLoader, folder: ResourcesFolder?, source: Source?) {
            index = loaded.index
            filesLeftOut = loaded.filesLeftOut
            self.folder = folder
            self.source = source
        }

        /// The keys that almost match a URL.
        func nearMisses(of url: NormalizedURL) -> [NearMiss] {
            nearMisses.withLock { made in
                let finder = made ?? NearMisses(index)
                made = finder
                return finder
            }.of(url)
        }

        /// Made when somebody asks: most processes never do.
        private let nearMisses = Guarded<NearMisses?>(nil)
    }

    /// Where a map came from: what loading it again takes.
    struct Source: Sendable {
        var file: MapFile
        let resources: URL?
        let strict: Bool
    }

    /// Loads a map from a file.
    ///
    /// - Parameters:
    ///   - file: A JSON file in UTF-8.
    ///   - resources: The folder with the entries' files; by default the folder `Resources` beside the map.
    ///   - strict: Whether any problem is an error. Otherwise only a map that can't be read or is no JSON object throws, the
    ///     entries that are right work, and ``problems`` has the rest: for apps that were shipped.
    /// - Throws: All that is wrong with the map, each with its key and line.
    public init(contentsOf file: URL, resources: URL? = nil, strict: Bool = true) throws(SubstitutionMapError) {
        try self.init(
            MapFile(file),
            resources: resources,
            folder: Self.folder(beside: file, or: resources),
            strict: strict
        )
    }

    /// Makes a map of JSON text.
    ///
    /// - Parameters:
    ///   - json: A JSON object in UTF-8.
    ///   - resources: The folder with the entries' files.
    ///   - strict: As in ``init(contentsOf:resources:strict:)``.
    /// - Throws: All that is wrong with the map, each with its key and line.
    public init(json: Data, resources: URL, strict: Bool = true) throws(SubstitutionMapError) {
        let folder = ResourcesFolder(resources)
        try self.init(MapLoader(json: Array(json), folder: folder), source: nil, folder: folder, strict: strict)
    }

    /// Makes a map of a dictionary of URLs and file names.
    ///
    /// - Parameters:
    ///   - files: Keys, as in the JSON, and the names of their files.
    ///   - resources: The folder with the files.
    /// - Throws: All that is wrong with the map, each with its key.
    public init(_ files: [String: String], resources: URL) throws(SubstitutionMapError) {
        let folder = ResourcesFolder(resources)
        try self.init(MapLoader(files: files, folder: folder), source: nil, folder: folder, strict: true)
    }

    /// How many entries are in use.
    public var count: Int { storage.index.entries.count }

    /// What the map gives for a URL; `nil` if no entry applies to it.
    ///
    /// Looks whether the entry's file exists, but does not read it. What a *request* for the URL gets depends on more: see
    /// ``LocalSubstitutionCache/explain(_:)``.
    public func substitution(for url: URL) -> Substitution? {
        guard let url = try? NormalizedURL(url.absoluteString) else { return nil }
        return match(url).substitution
    }

    init(_ file: MapFile, resources: URL?, folder: ResourcesFolder?, strict: Bool) throws(SubstitutionMapError) {
        try self.init(
            MapLoader(json: file.json, folder: folder),
            source: Source(file: file.withoutBytes, resources: resources, strict: strict),
            folder: folder,
            strict: strict
        )
    }

    /// `Resources` beside a map, if it is a folder.
    static func folder(beside file: URL, or resources: URL?, mapsLargeFiles: Bool = false) -> ResourcesFolder? {
        if let resources { return ResourcesFolder(resources, mapsLargeFiles: mapsLargeFiles) }
        let beside = ResourcesFolder(folder(beside: file), mapsLargeFiles: mapsLargeFiles)
        return FileStatus(path: beside.path)?.kind == .folder ? beside : nil
    }

    static func folder(beside file: URL) -> URL {
        file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
    }

    private init(
        _ loaded: MapLoader,
        source: Source?,
        folder: ResourcesFolder?,
        strict: Bool
    ) throws(SubstitutionMapError) {
        if loaded.problems.contains(where: { strict || $0.isFatal }) {
            throw SubstitutionMapError(file: source?.file.url, problems: loaded.problems)
        }
        problems = loaded.problems
        storage = Storage(loaded, folder: folder, source: source)
    }
}
