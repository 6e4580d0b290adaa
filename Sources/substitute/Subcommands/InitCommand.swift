import Foundation
import LocalSubstitution
import MapTools

let initCommand = Subcommand(
    name: "init",
    operands: "",
    summary: "create an empty map and its resources folder",
    details: """
        Creates an empty substitutions.json and a folder Resources. In a Swift package,
        they go into the target that depends on LocalSubstitution, or the one that
        --target names. Elsewhere, they go into the current folder. Prints what
        Package.swift still needs, and the code that loads the map. Never changes an
        existing map.
        """,
    options: [
        Option(name: "target", value: "NAME", help: "the target in the package that uses the map"),
        Option(
            name: "map",
            value: .file(withExtension: "json"),
            help: "the map (default: in the target's or current folder)"
        ),
    ],
    run: initialize
)

private func initialize(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "init takes only options. Name the map with --map FILE.")
    }
    let place = try MapPlace(arguments)
    let target = place.map
    guard !target.exists else {
        throw Failure("The map “\(target.file.path)” already exists. Use add or import to change it.")
    }
    let resources = target.resources
    var edited = try EditedMap(target.file, resources: resources)
    try edited.save()
    output.message("created \(target.file.path) and \(resources.path)")
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
            fields.append(
                "resources: [\(missingResources.map { ".copy(\(String(reflecting: $0)))" }.joined(separator: ", "))]"
            )
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
        // A test target isn't in the app, and no other target has tests.
        if target?.type != "test" { steps.append(appStep) }
        if target == nil || target?.type == "test" { steps.append(testStep) }
        steps.append(
            """
            Then add entries for URLs, or for what a browser recorded:

                \(Invocation.current) add\(map.options) URL
                \(Invocation.current) import\(map.options) FILE.har
            """
        )
        return steps
    }

    private var appStep: String {
        """
        In the app, before anything uses URLSession:

            import Foundation
            import LocalSubstitution

            try \(map.cache).install()

        That's for URLSession.shared. To a session with its own configuration, attach the cache
        instead, with attach(to:).
        """
    }

    private var testStep: String {
        """
        In a test, for one session; on Linux, import FoundationNetworking, too:

            let configuration = URLSessionConfiguration.ephemeral
            try \(map.cache).attach(to: configuration)
            let session = URLSession(configuration: configuration)
        """
    }
}

extension MapChoice {
    /// The Swift expression that makes a cache with the map. A map that a bundle can't have is named by its path.
    fileprivate var cache: String {
        guard isInBundle else {
            let paths = [file, resources].map { "URL(fileURLWithPath: \(String(reflecting: $0.path)))" }
            return "LocalSubstitutionCache(contentsOf: \(paths[0]), resources: \(paths[1]))"
        }
        let name = file.deletingPathExtension().lastPathComponent
        let map = name == "substitutions" ? "" : ", named: \(String(reflecting: name))"
        return "LocalSubstitutionCache(bundle: .module\(map))"
    }
}

/// The JSON that `--json` prints for a new map.
private struct InitRecord: Encodable {
    let map: String
    let resources: String
}
