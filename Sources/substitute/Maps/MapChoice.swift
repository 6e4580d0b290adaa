import Foundation
import LocalSubstitution

/// Which map a subcommand works on.
struct MapChoice: Sendable {
    let file: URL
    let resources: URL?

    /// `--map`, or `substitutions.json` in the current folder. Which one is told on standard error.
    init(_ arguments: Arguments, _ output: Output) throws(Failure) {
        resources = arguments.value("resources").map { URL(fileURLWithPath: $0, isDirectory: true) }
        if let named = arguments.value("map") {
            file = URL(fileURLWithPath: named)
        } else {
            file = Self.standard
            guard Self.isThere(arguments) else {
                throw Failure(
                    "\(file.path) doesn't exist. Make a map with substitute init, or name one with --map FILE."
                )
            }
        }
        output.message("map \(file.path)")
    }

    /// Whether a map is named or lies in the current folder.
    static func isThere(_ arguments: Arguments) -> Bool {
        arguments.value("map") != nil || FileManager.default.fileExists(atPath: standard.path)
    }

    private static let standard = URL(fileURLWithPath: "substitutions.json")

    func cache(reloadsChanges: Bool = false) throws(SubstitutionMapError) -> LocalSubstitutionCache {
        let map = try SubstitutionMap(contentsOf: file, resources: resources)
        return LocalSubstitutionCache(map: map, reloadsChanges: reloadsChanges)
    }
}
