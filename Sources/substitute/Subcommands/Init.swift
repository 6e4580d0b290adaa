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

    let (map, folder) = (target.file.lastPathComponent, target.resources.lastPathComponent)
    let name = map == "substitutions.json" ? "" : ", map: \"\(target.file.deletingPathExtension().lastPathComponent)\""
    output.line(
        """
        In Package.swift, in the target in whose folder they are:

            resources: [.copy("\(map)"), .copy("\(folder)")]

        In the app, before it loads anything:

            import LocalSubstitution

            URLCache.shared = try LocalSubstitutionCache(bundle: .module\(name))

        In a test, for one session:

            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = try LocalSubstitutionCache(bundle: .module\(name))

        To go on: substitute add URL [FILE], or substitute import FILE.har
        """
    )
    try output.json(InitRecord(map: target.file.path, resources: target.resources.path))
    return .done
}

/// What `--json` says of a new map.
private struct InitRecord: Encodable {
    let map: String
    let resources: String
}
