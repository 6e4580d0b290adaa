import Foundation
import LocalSubstitution
import MapTools

let initCommand = Subcommand(
    name: "init",
    operands: "",
    summary: "make an empty map and its folder",
    details: """
        Makes an empty substitutions.json and a folder Resources. In a Swift package's
        folder, they go into the target that depends on LocalSubstitution, or the one
        that --target names; elsewhere, into the current folder. Then it prints what
        Package.swift still lacks, and the code that loads the map. A map that is
        there already is left as it is.
        """,
    options: [
        Option(name: "target", value: "NAME", help: "the target in the package that uses the map")
    ],
    run: initialize
)

private func initialize(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "init takes no operands: name the map with --map FILE")
    }
    let place = try MapPlace(arguments)
    let target = place.map
    guard !target.exists else {
        throw Failure("there is a map already, and it stays as it is: \(target.file.path)")
    }
    let resources = target.resources
    var edited = try EditedMap(target.file, resources: resources)
    try edited.save()
    output.message("made \(target.file.path) and \(resources.path)")
    output.line("\(lines: place.steps.joined(separator: "\n\n"))")
    try output.json(InitRecord(map: target.file.path, resources: resources.path))
    return .done
}

extension MapPlace {
    /// The remaining steps, each with the lines to add.
    fileprivate var steps: [String] {
        var steps: [String] = []
        if package?.dependsOnPackage != true {
            steps.append(
                """
                In Package.swift, with the URL that you get the package from:

                    dependencies: [.package(url: "https://github.com/OWNER/LocalSubstitutionCache", branch: "main")]
                """
            )
        }
        var fields: [String] = []
        if target?.dependsOnLibrary != true {
            fields.append(#"dependencies: [.product(name: "LocalSubstitution", package: "LocalSubstitutionCache")]"#)
        }
        if !missingResources.isEmpty {
            fields.append("resources: [\(missingResources.map { ".copy(\"\($0)\")" }.joined(separator: ", "))]")
        }
        if !fields.isEmpty {
            let name = target.map { "target \($0.name)" } ?? "the target whose folder has the map and its files"
            steps.append("In Package.swift, in \(name):\n\n    " + fields.joined(separator: ",\n    "))
        }
        if missingResources.contains("Resources") {
            steps.append(
                """
                For iOS and similar platforms, call the folder Substitutes instead, since code
                signing rejects a bundle with a folder Resources, and name the files in the map
                as Substitutes/logo.png.
                """
            )
        }
        // An app doesn't contain a test target, nor a test target an app.
        if target?.type != "test" { steps.append(appStep) }
        if target == nil || target?.type == "test" { steps.append(testStep) }
        steps.append("Next: substitute add\(options) URL [FILE], or substitute import\(options) FILE.har")
        return steps
    }

    private var appStep: String {
        """
        In the app, before it loads anything; FoundationNetworking is for Linux only:

            import Foundation
            import LocalSubstitution
            #if canImport(FoundationNetworking)
            import FoundationNetworking
            #endif

            URLCache.shared = try \(map.cache)
        """
    }

    private var testStep: String {
        """
        In a test, for one session:

            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = try \(map.cache)
        """
    }
}

extension MapChoice {
    /// The Swift expression that makes a cache with the map. A bundle's map has its files in `Resources` beside it; any other is
    /// named by its path.
    fileprivate var cache: String {
        guard hasStandardResources, file.pathExtension == "json" else {
            let paths = [file, resources].map { "URL(fileURLWithPath: \(String(reflecting: $0.path)))" }
            return "LocalSubstitutionCache(contentsOf: \(paths[0]), resources: \(paths[1]))"
        }
        let name = file.deletingPathExtension().lastPathComponent
        let map = name == "substitutions" ? "" : ", named: \(String(reflecting: name))"
        return "LocalSubstitutionCache(bundle: .module\(map))"
    }
}

/// What `--json` says of a new map.
private struct InitRecord: Encodable {
    let map: String
    let resources: String
}
