import Foundation
import LocalSubstitution

/// The map that a subcommand works on, and its files.
struct MapChoice: Sendable {
    let file: URL
    private let isNamed: Bool
    /// The folder that `--resources` names.
    private let namedResources: URL?

    /// `--map`, or `substitutions.json` in a folder, the current one by default.
    init(_ arguments: Arguments, in folder: String? = nil) {
        isNamed = arguments.has("map")
        file = URL(fileURLWithPath: arguments.value("map") ?? (folder.map { $0 + "/" } ?? "") + "substitutions.json")
        namedResources = arguments.value("resources").map { URL(fileURLWithPath: $0, isDirectory: true) }
    }

    /// Chooses a map to load, and says on standard error which one it is.
    static func loaded(_ arguments: Arguments, _ output: Output) throws(Failure) -> MapChoice {
        let choice = MapChoice(arguments)
        guard choice.isThere else { throw choice.missing }
        output.message("map \(choice.file.path)")
        return choice
    }

    /// Whether a map is named or lies in the current folder.
    var isThere: Bool { isNamed || exists }

    /// Whether there is anything of the map's name, also what is no map.
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The error for a map that has to be there.
    var missing: Failure {
        Failure("\(file.path) doesn't exist. Make a map with substitute init, or name one with --map FILE.")
    }

    func map() throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(contentsOf: file, resources: namedResources)
    }

    func checkedMap() throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(checking: file, resources: namedResources)
    }

    func cache(reloadsChanges: Bool = false) throws(SubstitutionMapError) -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: try map(), reloadsChanges: reloadsChanges)
    }

    /// The folder that new files go to: `--resources`, or `Resources` beside the map, or the map's own folder if that is where its
    /// files are.
    var resources: URL {
        if let namedResources { return namedResources }
        let map = try? checkedMap()
        guard let folder = map?.resources, map?.entries.flatMap(\.answering).contains(where: { $0.file != nil }) == true
        else {
            return standardResources
        }
        return URL(fileURLWithPath: folder.path, isDirectory: true)
    }

    /// Whether the files are in the default place for the map's files.
    var hasStandardResources: Bool { resources.standardizedFileURL.path == standardResources.standardizedFileURL.path }

    private var standardResources: URL {
        file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
    }
}
