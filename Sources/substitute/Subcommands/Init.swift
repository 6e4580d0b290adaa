import Foundation
import LocalSubstitution

let initCommand = Subcommand(
    name: "init",
    operands: "",
    summary: "make an empty map and its folder here",
    details: """
        Makes an empty substitutions.json and the folder Resources here, and prints the
        lines that a Swift package and its app or tests need to use them. A map that is
        there already is left as it is.
        """,
    options: [],
    run: initialize
)

private func initialize(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else { throw UsageError("init takes no operands: name the map with --map FILE") }
    let target = MapTarget(arguments)
    guard !target.exists else {
        throw Failure("there is a map already, and it stays as it is: \(target.file.path)")
    }
    var edited = try EditedMap(target.file, resources: target.resources)
    try edited.save()
    output.message("made \(target.file.path) and \(target.resources.path)")

    output.line(
        """
        In Package.swift, with the address that you have the package from:

            dependencies: [.package(url: "https://github.com/OWNER/LocalSubstitutionCache", branch: "main")]

        There, in the target in whose folder map and files are:

            dependencies: [.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")],
            resources: [.copy("\(target.file.lastPathComponent)"), .copy("\(target.resources.lastPathComponent)")]

        In the app, before it loads anything; FoundationNetworking is for Linux only:

            import Foundation
            import LocalSubstitution
            #if canImport(FoundationNetworking)
            import FoundationNetworking
            #endif

            URLCache.shared = try \(target.cache)

        In a test, for one session:

            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = try \(target.cache)

        To go on: substitute add URL [FILE], or substitute import FILE.har
        """
    )
    try output.json(InitRecord(map: target.file.path, resources: target.resources.path))
    return .done
}

extension MapTarget {
    /// The Swift expression that makes a cache with the map. A bundle's map has its files in `Resources` beside it; any other is
    /// named by its path.
    fileprivate var cache: String {
        let folder = file.deletingLastPathComponent().appendingPathComponent("Resources", isDirectory: true)
        guard resources.standardizedFileURL.path == folder.standardizedFileURL.path, file.pathExtension == "json" else {
            let paths = [file, resources].map { "URL(fileURLWithPath: \(String(reflecting: $0.path)))" }
            return "LocalSubstitutionCache(contentsOf: \(paths[0]), resources: \(paths[1]))"
        }
        let name = file.deletingPathExtension().lastPathComponent
        let map = name == "substitutions" ? "" : ", map: \(String(reflecting: name))"
        return "LocalSubstitutionCache(bundle: .module\(map))"
    }
}

/// What `--json` says of a new map.
private struct InitRecord: Encodable {
    let map: String
    let resources: String
}
