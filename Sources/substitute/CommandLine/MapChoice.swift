import Foundation
import LocalSubstitution
import MapWriting

/// The map file that a subcommand works on, and the folder with the map's files.
struct MapChoice: Sendable {
    /// The file may not exist.
    let file: URL
    /// Whether `--map` or the subcommand has chosen the map. If `false`, the map is `substitutions.json` in the current
    /// folder.
    private let isNamed: Bool
    /// `nil` without the option `--resources`.
    private let namedResources: URL?

    /// Chooses the map that `--map` names. Without `--map`, chooses `substitutions.json` in a folder.
    ///
    /// - Parameter folder: The path of the folder; `nil`, the default, for the current folder.
    init(_ arguments: Arguments, in folder: String? = nil) {
        isNamed = arguments.has("map") || folder != nil
        let name = arguments.value("map") ?? (folder.map { $0 + "/" } ?? "") + "substitutions.json"
        file = Shell.file(name)
        namedResources = arguments.value("resources").map { Shell.file($0, isDirectory: true) }
    }

    /// - Throws: A failure that suggests other maps if nothing exists at the map's path.
    func announceExisting(to output: Output) throws(Complaint) {
        guard exists else { throw missing }
        announce(to: output)
    }

    /// Prints the map's path on standard error, but only if neither `--map` nor the subcommand has chosen the map.
    func announce(to output: Output) {
        if !isNamed { output.message("map \(file.path)") }
    }

    /// Whether anything is at the map's path, even if it isn't a valid map.
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The error for a map that doesn't exist. If neither `--map` nor the subcommand has chosen the map, the error
    /// suggests maps below the current folder. Otherwise, or if there are no maps to suggest, the error suggests
    /// `init`.
    var missing: Complaint {
        let maps = isNamed ? [] : Self.nearbyMaps()
        guard !maps.isEmpty else {
            return Complaint(
                "The map “\(file.path)” doesn't exist. Create it with \(Shell.invocation) init\(options), "
                    + "or name another map with --map FILE."
            )
        }
        let names = maps.prefix(Self.mostSuggested).map { "--map \(Shell.word(for: $0))" }.listed("or")
        let another = maps.count > Self.mostSuggested ? "another map, such as" : "another map:"
        return Complaint("The map “\(file.path)” doesn't exist. Use \(another) \(names).")
    }

    private static let mostSuggested = 3

    /// Whether a cache can load the map from a bundle. The map's name must end in “.json”, and its files must be in a
    /// folder that a cache finds beside the map.
    var isInBundle: Bool { isFolderFound && file.pathExtension == "json" }

    /// The options that a command line needs to work on this map: `--map`, `--resources`, both or neither. A space
    /// precedes each option. Empty if the command finds the map without options.
    var options: String {
        let name = Shell.word(for: file)
        let folder = namedResources.flatMap { isFolderFound ? nil : $0 }
        return (name == "substitutions.json" ? "" : " --map \(name)")
            + (folder.map { " --resources \(Shell.word(for: $0))" } ?? "")
    }

    /// Loads the map for a check. Its `problems` list what's wrong with its entries.
    ///
    /// - Throws: An error if the file can't be read as a map at all.
    func checkedMap() throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(checking: file, resources: namedResources)
    }

    /// Returns a cache with the chosen map, and announces the map.
    ///
    /// - Parameters:
    ///   - folder: The folder that the subcommand records responses in; `nil`, the default, if it doesn't record. With
    ///     a folder, an empty map replaces a missing one, unless the command line names the missing map.
    ///   - reloadsChanges: Whether the cache reloads the map when its file changes; `false` by default.
    /// - Throws: An error if the map is invalid, or if it's missing and isn't replaced by an empty map.
    func cache(
        _ output: Output,
        recordsInto folder: URL? = nil,
        reloadsChanges: Bool = false
    ) throws -> LocalSubstitutionCache {
        let map: SubstitutionMap
        if let folder, !isNamed, !exists {
            map = try SubstitutionMap([:], resources: folder)
        } else {
            try announceExisting(to: output)
            map = try SubstitutionMap(inTool: file, resources: namedResources)
        }
        return LocalSubstitutionCache(map: map, reloadsChanges: reloadsChanges)
    }

    /// The folder for new files of the map: the one that `--resources` names or, without this option, the one that
    /// `MapFolder` chooses.
    var resources: URL { namedResources ?? MapFolder.resources(of: file) }

    /// The folder for the files of a map that's about to be created.
    var newResources: URL { namedResources ?? MapFolder.resources(of: file, isNew: true) }

    /// Whether a cache finds the folder ``resources`` beside the map without its name.
    private var isFolderFound: Bool {
        let found = ResourcesFolder(beside: file, or: nil)
        return found.mapName == nil && resources.standardizedFileURL.path == found.url.standardizedFileURL.path
    }

    // MARK: Maps to suggest

    /// Returns the existing files `substitutions.json` in folders one or two levels below the current folder, sorted by
    /// path. The maps of a package's targets usually are there.
    ///
    /// Leaves out folders that any user can write to, such as the temporary folder: another user may have put a map
    /// there.
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
