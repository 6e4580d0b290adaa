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
        file = CurrentFolder.current.file(name)
        namedResources = arguments.value("resources").map { CurrentFolder.current.file($0, isDirectory: true) }
    }

    /// Chooses a map to load, and announces it.
    static func loaded(_ arguments: Arguments, _ output: Output) throws(Failure) -> MapChoice {
        let choice = MapChoice(arguments)
        guard choice.exists else { throw choice.missing }
        choice.announce(to: output)
        return choice
    }

    /// Says on standard error which map is used, unless the command line names it.
    func announce(to output: Output) {
        if !isNamed { output.message("map \(file.path)") }
    }

    /// Whether a map is named, or exists in the default place.
    var isThere: Bool { isNamed || exists }

    /// Whether anything exists at the map's path, even if it isn't a map.
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The error for a map that has to exist.
    var missing: Failure {
        let make = "\(Invocation.current) init\(options)"
        let maps = isNamed ? [] : NearbyMaps.files()
        guard !maps.isEmpty else {
            return Failure(
                "The map “\(file.path)” doesn't exist. Create one with \(make), or name another with --map FILE."
            )
        }
        let names = maps.prefix(Self.mostSuggested).map { "--map \(Self.shellWord($0))" }.listed("or")
        let another = maps.count > Self.mostSuggested ? "another map, such as" : "another map:"
        return Failure("The map “\(file.path)” doesn't exist. Use \(another) \(names).")
    }

    private static let mostSuggested = 3

    /// Whether a bundle can have the map and its files: its name ends in “.json”, and its files are in `Resources` beside it.
    var isInBundle: Bool { hasStandardResources && file.pathExtension == "json" }

    /// The options that other commands need to find the map, each with a space before it; empty if they don't need any.
    var options: String {
        let name = Self.shellWord(file)
        // Without the option, asking where the files are would load the map.
        let folder = namedResources.flatMap { hasStandardResources ? nil : $0 }
        return (name == "substitutions.json" ? "" : " --map \(name)")
            + (folder.map { " --resources \(Self.shellWord($0))" } ?? "")
    }

    /// Returns a path the way it's typed in a shell in the current folder.
    static func shellWord(_ file: URL) -> String {
        let here = CurrentFolder.current.url.standardizedFileURL.path + "/"
        let path = file.standardizedFileURL.path
        let relative = path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
        return ShellWord.text(relative.hasPrefix("-") ? "./" + relative : relative)
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

    /// The folder for new files: the one that `--resources` names, or the map's resources folder if entries name files in it, or
    /// `Resources` beside the map.
    var resources: URL {
        if let namedResources { return namedResources }
        let map = try? checkedMap()
        guard let folder = map?.resources, map?.entries.flatMap(\.answering).contains(where: { $0.file != nil }) == true
        else {
            return standardResources
        }
        return URL(fileURLWithPath: folder.path, isDirectory: true)
    }

    /// Whether the files are in the default folder.
    var hasStandardResources: Bool { resources.standardizedFileURL.path == standardResources.standardizedFileURL.path }

    private var standardResources: URL {
        file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
    }
}
