import Foundation
import LocalSubstitution

/// The map that a subcommand changes, and its files.
struct MapTarget: Sendable {
    let file: URL
    let resources: URL

    /// `--map`, or `substitutions.json` in a folder; `--resources`, or `Resources` beside the map.
    init(_ arguments: Arguments, in folder: String? = nil) {
        let folder = URL(fileURLWithPath: folder ?? ".", isDirectory: true)
        file =
            arguments.value("map").map { URL(fileURLWithPath: $0) }
            ?? folder.appendingPathComponent("substitutions.json", isDirectory: false)
        resources =
            arguments.value("resources").map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
    }

    /// Whether the files are in the default place for the map's files.
    var hasStandardResources: Bool {
        let folder = file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
        return resources.standardizedFileURL.path == folder.standardizedFileURL.path
    }

    /// Whether there is anything of the map's name, also what is no map.
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }
}
