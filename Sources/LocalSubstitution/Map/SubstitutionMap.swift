public import Foundation
import Guarded

/// A map from URLs to their answers: the contents of `substitutions.json`, checked and indexed.
///
/// A map never changes. Copying it is cheap.
public struct SubstitutionMap: Sendable {
    /// The problems with the entries that were skipped. Only a map loaded with ``InvalidEntries/skip`` can have some.
    public var problems: [Problem] { storage.problems }

    let storage: Storage

    final class Storage: Sendable {
        let problems: [Problem]
        let index: MapIndex
        let filesLeftOut: [FileName]
        /// Whether files were checked when the map was loaded.
        let hasCheckedFiles: Bool
        let folder: ResourcesFolder?
        /// `nil` for a map that wasn't loaded from a file.
        let source: Source?

        init() {
            (problems, index, filesLeftOut, hasCheckedFiles, folder, source) = ([], MapIndex(), [], true, nil, nil)
        }

        /// - Parameter leftOut: More problems to list. They aren't errors.
        /// - Throws: An error that lists all problems if one of them makes the map unusable.
        init(
            _ loaded: MapLoader,
            folder: ResourcesFolder?,
            source: Source? = nil,
            invalidEntries: InvalidEntries = .reject,
            leftOut: [Problem] = []
        ) throws(SubstitutionMapError) {
            if loaded.problems.contains(where: { invalidEntries == .reject || $0.isFatal }) {
                throw SubstitutionMapError(file: source?.file.url, problems: loaded.problems)
            }
            problems = loaded.problems + leftOut
            index = loaded.index
            filesLeftOut = loaded.filesLeftOut
            hasCheckedFiles = loaded.looksAtFiles
            self.folder = folder
            self.source = source
        }

        func nearMisses(of url: NormalizedURL) -> [SubstitutionMap.NearMiss] {
            nearMisses.withLock { made in
                let finder = made ?? NearMisses(index)
                made = finder
                return finder
            }.of(url)
        }

        /// `nil` until it's first needed. Most processes never need it.
        private let nearMisses = Guarded<NearMisses?>(nil)
    }

    /// What happens to entries with mistakes.
    public enum InvalidEntries: Sendable, Hashable {
        /// Throws an error if there's any problem.
        case reject
        /// Skips invalid entries, and lists their problems in ``SubstitutionMap/problems``. Use this in apps that you
        /// ship.
        ///
        /// Files aren't checked. A missing file is found only when a request needs it. To check files, use
        /// ``SubstitutionMap/fileProblems()``. Throws an error only if the map can't be read or isn't a JSON object.
        ///
        /// If the map's `$version` is newer than this library, the entries that the library understands are used, and
        /// the version is the only problem.
        case skip

        /// Whether loading a map looks for its files.
        fileprivate var looksAtFiles: Bool { self == .reject }
    }

    /// A map's file, and the options to load the map from it again.
    final class Source: Sendable {
        let file: MapFile
        let resources: URL?
        let isInBundle: Bool
        let invalidEntries: InvalidEntries
        let handlers: SubstitutionMap.HandlerTable

        init(
            _ file: MapFile,
            resources: URL?,
            isInBundle: Bool,
            invalidEntries: InvalidEntries,
            handlers: HandlerTable
        ) {
            self.file = file.withoutBytes
            self.resources = resources
            self.isInBundle = isInBundle
            self.invalidEntries = invalidEntries
            self.handlers = handlers
        }

        /// Returns these options for the same file, which was read again.
        func with(_ file: MapFile) -> Source {
            Source(
                file,
                resources: resources,
                isInBundle: isInBundle,
                invalidEntries: invalidEntries,
                handlers: handlers
            )
        }
    }

    /// A map without entries.
    package static let empty = SubstitutionMap()

    private init() { storage = Storage() }

    /// Loads a map from a file.
    ///
    /// - Parameters:
    ///   - file: A JSON file in UTF-8.
    ///   - resources: The folder with the entries' files. By default, the folder `Substitutes` beside the map, or else
    ///     the folder `Resources` there. If neither exists, the map's own folder is used, but the map itself and hidden
    ///     files aren't.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    ///   - handlers: The closures for entries with the field `handler`, by name.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public init(
        contentsOf file: URL,
        resources: URL? = nil,
        invalidEntries: InvalidEntries = .reject,
        handlers: [String: Handler] = [:]
    ) throws(SubstitutionMapError) {
        try self.init(
            MapFile(file),
            resources: resources,
            invalidEntries: invalidEntries,
            handlers: SubstitutionMap.HandlerTable(handlers)
        )
    }

    /// For a tool, which doesn't have the app's code: entries may use any handler name.
    package init(inTool file: URL, resources: URL?) throws(SubstitutionMapError) {
        try self.init(MapFile(file), resources: resources, invalidEntries: .reject, handlers: .any)
    }

    /// For tools that show every problem: loads the valid entries, and checks their files.
    ///
    /// - Throws: An error if the map can't be read or isn't a JSON object.
    package init(checking file: URL, resources: URL?) throws(SubstitutionMapError) {
        try self.init(MapFile(file), resources: resources, invalidEntries: .skip, handlers: .any, looksAtFiles: true)
    }

    /// Loads a map from JSON text.
    ///
    /// - Parameters:
    ///   - json: A JSON object in UTF-8.
    ///   - resources: The folder with the entries' files. A map without files doesn't need one.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    ///   - handlers: The closures for entries with the field `handler`, by name.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public init(
        json: Data,
        resources: URL? = nil,
        invalidEntries: InvalidEntries = .reject,
        handlers: [String: Handler] = [:]
    ) throws(SubstitutionMapError) {
        try self.init(
            json: json,
            resources: resources,
            invalidEntries: invalidEntries,
            handlers: SubstitutionMap.HandlerTable(handlers)
        )
    }

    package init(
        json: Data,
        resources: URL? = nil,
        invalidEntries: InvalidEntries = .reject,
        handlers: SubstitutionMap.HandlerTable
    ) throws(SubstitutionMapError) {
        let folder = resources.map { ResourcesFolder($0) }
        storage = try Storage(
            MapLoader.load(
                json: Array(json),
                folder: folder,
                looksAtFiles: invalidEntries.looksAtFiles,
                handlers: handlers
            ),
            folder: folder,
            invalidEntries: invalidEntries
        )
    }

    /// Checks text that is about to be written to the map's file.
    package init(json: Data, of file: URL, resources: URL) throws(SubstitutionMapError) {
        let folders = [resources, file.deletingLastPathComponent()].map { $0.resolvingSymlinksInPath().path }
        let isOwn = folders[0] == folders[1]
        let folder = ResourcesFolder(resources, mapName: isOwn ? file.lastPathComponent : nil)
        storage = try Storage(MapLoader.load(json: Array(json), folder: folder), folder: folder)
    }

    /// Creates a map from URLs and their answers.
    ///
    /// ```swift
    /// let map = try SubstitutionMap([
    ///     "https://api.example.com/user": .json(["name": "Ada"]),
    ///     "https://api.example.com/orders": ["orders.json", .json(["id": 7]).status(201).methods("POST")],
    ///     "https://api.example.com/pay": .error(.timedOut).delay(5),
    ///     "https://api.example.com/live/*": .notSubstituted,
    /// ], resources: folder)
    /// ```
    ///
    /// - Parameters:
    ///   - entries: The keys, as in the JSON, and their answers.
    ///   - resources: The folder with the entries' files. A map without files doesn't need one.
    /// - Throws: An error that lists every problem with the map, each with its key. Giving a key twice is a problem.
    public init(_ entries: KeyValuePairs<String, Answer>, resources: URL? = nil) throws(SubstitutionMapError) {
        let folder = resources.map { ResourcesFolder($0) }
        storage = try Storage(MapLoader(answers: Array(entries), folder: folder), folder: folder)
    }

    /// Creates a map from entries that were converted from another format. They don't use files.
    ///
    /// - Parameter leftOut: Problems with parts of the other format that a map can't represent. They're added to the
    ///   map's ``problems``.
    package init(_ entries: [(key: String, value: Answer)], leftOut: [Problem]) throws(SubstitutionMapError) {
        storage = try Storage(MapLoader(answers: entries), folder: nil, leftOut: leftOut)
    }

    /// The number of entries, including `null` and disabled ones. Invalid entries that were skipped aren't counted.
    public var count: Int { storage.index.entries.count }

    /// Those with exact keys in the order of the map, then patterns in order of precedence.
    package var entries: [Entry] { storage.index.entries }

    package func isCopy(of other: SubstitutionMap) -> Bool { storage === other.storage }

    /// `nil` for a map that this version of the library understands. Tools don't judge or change such a map.
    package var newerVersion: Problem? { problems.first { $0.kind == .newerVersion } }

    /// `nil` for a map that wasn't loaded from a file.
    package var file: URL? { storage.source?.file.url }

    package var resources: ResourcesFolder? { storage.folder }

    /// The substitution for a `GET`, without reading its file. `nil` if no entry matches, or if the answer isn't local;
    /// see ``Substitution/isLocal``. An entry whose file doesn't exist is skipped.
    package func substitution(for url: URL) -> Substitution? {
        guard let url = try? NormalizedURL(url.absoluteString) else { return nil }
        return match(url).localSubstitution
    }

    @inline(never)  // Otherwise, the initializers for files and bundles would each contain a copy.
    package init(
        _ file: MapFile,
        resources: URL?,
        isInBundle: Bool = false,
        invalidEntries: InvalidEntries,
        handlers: SubstitutionMap.HandlerTable,
        looksAtFiles: Bool? = nil
    ) throws(SubstitutionMapError) {
        let folder = ResourcesFolder(beside: file.url, or: resources, isInBundle: isInBundle)
        let looksAtFiles = looksAtFiles ?? invalidEntries.looksAtFiles
        storage = try Storage(
            MapLoader.load(json: file.json, folder: folder, looksAtFiles: looksAtFiles, handlers: handlers),
            folder: folder,
            source: Source(
                file,
                resources: resources,
                isInBundle: isInBundle,
                invalidEntries: invalidEntries,
                handlers: handlers
            ),
            invalidEntries: invalidEntries
        )
    }
}

extension SubstitutionMap {
    /// What to do if a bundle lacks a map, or files of its entries.
    package static let bundleFix =
        "Add the map and its files to the target's resources; in a package, use .copy and Bundle.module."

    /// Loads a map from a bundle.
    ///
    /// Files of 64 KiB and more are mapped into memory, since nothing changes an installed bundle.
    ///
    /// - Parameters:
    ///   - bundle: The bundle. The entries' files are in the folder `Substitutes` beside the map, or else in the
    ///     folder `Resources` there. If neither exists, they're in the map's own folder.
    ///   - name: The name of the map's file, without its extension `json`.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    ///   - handlers: The closures for entries with the field `handler`, by name.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public init(
        bundle: Bundle,
        named name: String = "substitutions",
        invalidEntries: InvalidEntries = .reject,
        handlers: [String: Handler] = [:]
    ) throws(SubstitutionMapError) {
        guard let file = bundle.url(forResource: name, withExtension: "json") else {
            let message = "There's no \(name).json in the bundle “\(bundle.bundlePath)”. \(Self.bundleFix)"
            throw SubstitutionMapError(file: nil, problems: [Problem(.unreadableMap, message)])
        }
        try self.init(
            MapFile(file),
            resources: nil,
            isInBundle: true,
            invalidEntries: invalidEntries,
            handlers: SubstitutionMap.HandlerTable(handlers)
        )
    }
}

extension SubstitutionMap {
    /// Returns the problems with the entries' files.
    ///
    /// This checks every file. Call it in a unit test of a map that you ship.
    public func fileProblems() -> [Problem] { checkedFiles().problems }

    /// These files are treated as used although no valid entry names them: the files of invalid entries, and existing
    /// files whose names are probably misspelled in the map.
    package var filesLeftOut: [FileName] {
        storage.filesLeftOut + (storage.hasCheckedFiles ? [] : checkedFiles().meant)
    }

    /// `meant` has the existing files whose names are probably misspelled in the map.
    private func checkedFiles() -> (problems: [Problem], meant: [FileName]) {
        let files = FileChecker(storage.folder, looksAtFiles: true)
        let entries = storage.index.entries.flatMap(\.responding)
        let problems = entries.flatMap { files.problems(of: $0, wildcardsInKey: .max) }
        let folderProblem = files.folderProblem(of: entries.first { !$0.files.isEmpty })
        return (problems.ordered(after: folderProblem), files.meant)
    }
}
