import Foundation
import LocalSubstitution

/// The map that a subcommand works on, and its files.
struct MapChoice: Sendable {
    let file: URL
    /// Whether the command line says where the map is.
    private let isNamed: Bool
    /// The folder that `--resources` names.
    private let namedResources: URL?

    /// Chooses the map that `--map` names, or `substitutions.json` in a folder, which is the current one by default.
    init(_ arguments: Arguments, in folder: String? = nil) {
        isNamed = arguments.has("map") || folder != nil
        let name = arguments.value("map") ?? (folder.map { $0 + "/" } ?? "") + "substitutions.json"
        file = Shell.file(name)
        namedResources = arguments.value("resources").map { Shell.file($0, isDirectory: true) }
    }

    /// Chooses a map to load, and announces it. Throws if the map doesn't exist.
    static func loaded(_ arguments: Arguments, _ output: Output) throws(Failure) -> MapChoice {
        let choice = MapChoice(arguments)
        guard choice.exists else { throw choice.missing }
        choice.announce(to: output)
        return choice
    }

    /// Prints the map's path on standard error, unless the command line names the map.
    func announce(to output: Output) {
        if !isNamed { output.message("map \(file.path)") }
    }

    /// Whether anything exists at the map's path, even if it isn't a map.
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The error to throw if the map doesn't exist. It suggests other maps.
    var missing: Failure {
        let maps = isNamed ? [] : Self.nearbyMaps()
        guard !maps.isEmpty else {
            return Failure(
                "The map “\(file.path)” doesn't exist. Create one with \(Shell.invocation) init\(options), "
                    + "or name another with --map FILE."
            )
        }
        let names = maps.prefix(Self.mostSuggested).map { "--map \(Shell.word(for: $0))" }.listed("or")
        let another = maps.count > Self.mostSuggested ? "another map, such as" : "another map:"
        return Failure("The map “\(file.path)” doesn't exist. Use \(another) \(names).")
    }

    private static let mostSuggested = 3

    /// Whether a bundle can contain the map and its files: the map's name ends in “.json”, and the files are in
    /// `Resources` beside it.
    var isInBundle: Bool { hasStandardResources && file.pathExtension == "json" }

    /// The options with which other commands find the map, each with a space before it; empty if they find it without
    /// any.
    var options: String {
        let name = Shell.word(for: file)
        // Not asked without --resources, since `hasStandardResources` would load the map.
        let folder = namedResources.flatMap { hasStandardResources ? nil : $0 }
        return (name == "substitutions.json" ? "" : " --map \(name)")
            + (folder.map { " --resources \(Shell.word(for: $0))" } ?? "")
    }

    /// Loads the map, even if it has problems.
    func checkedMap() throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(checking: file, resources: namedResources)
    }

    /// Returns a cache with the chosen map, and announces the map.
    ///
    /// - Parameter folder: The folder to record responses in; `nil` for no recording. While recording, a missing
    ///   default map counts as empty.
    static func cache(
        _ arguments: Arguments,
        _ output: Output,
        recordsInto folder: URL? = nil,
        reloadsChanges: Bool = false
    ) throws -> LocalSubstitutionCache {
        let choice = MapChoice(arguments)
        let map: SubstitutionMap
        if let folder, !choice.isNamed, !choice.exists {
            map = try SubstitutionMap(files: [:], resources: folder)
        } else {
            let choice = try loaded(arguments, output)
            map = try SubstitutionMap(inTool: choice.file, resources: choice.namedResources)
        }
        return LocalSubstitutionCache(map: map, reloadsChanges: reloadsChanges)
    }

    /// The folder for new files: the one that `--resources` names; otherwise, the map's resources folder if entries use
    /// files; otherwise, `Resources` beside the map.
    var resources: URL {
        if let namedResources { return namedResources }
        let map = try? checkedMap()
        let files = map?.entries.flatMap(\.answering).flatMap(\.files) ?? []
        guard let folder = map?.resources, !files.isEmpty
        else {
            return standardResources
        }
        return URL(fileURLWithPath: folder.path, isDirectory: true)
    }

    private var hasStandardResources: Bool {
        resources.standardizedFileURL.path == standardResources.standardizedFileURL.path
    }

    private var standardResources: URL {
        file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
    }

    // MARK: Maps to suggest

    /// Returns the files `substitutions.json` one or two folders below the current one, where `init` puts the maps of a
    /// package's targets. They're sorted by path. Leaves out folders that anyone can write to, such as the temporary
    /// folder, since another user may have put a map there.
    private static func nearbyMaps() -> [URL] {
        guard !isOpenToAll(Shell.folder) else { return [] }
        let folders = Self.folders(in: Shell.folder).flatMap { [$0] + Self.folders(in: $0) }
        return folders.map { $0.appendingPathComponent("substitutions.json", isDirectory: false) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }.sorted { $0.path < $1.path }
    }

    private static func folders(in folder: URL) -> [URL] {
        let contents = try? FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: [.isDirectoryKey],
            options: .skipsHiddenFiles
        )
        return (contents ?? []).filter { folder in
            (try? folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true && !isOpenToAll(folder)
        }
    }

    private static func isOpenToAll(_ folder: URL) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
        guard let permissions = attributes?[.posixPermissions] as? NSNumber else { return true }
        return permissions.intValue & Int(S_IWOTH) != 0
    }
}
