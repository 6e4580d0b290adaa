import Foundation
import LocalSubstitution
import MapTools

let initCommand = Subcommand(
    name: "init",
    summary: "create an empty map and its resources folder",
    details: """
        Creates an empty substitutions.json and a folder Substitutes for its files in
        the current folder. In a Swift package, use the folder of the target that uses
        the map: for example, add --map Sources/Shop/substitutions.json. Prints the code
        that loads the map, and how to add the map and the folder to a package or an
        Xcode project. Never changes an existing map. If another map in the folder has
        its files elsewhere, the new map's files go there, too.
        """,
    run: initialize
)

private func initialize(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Complaint(usage: "init takes only options. Name the map with --map FILE.")
    }
    let target = MapChoice(arguments)
    guard !target.exists else {
        throw Complaint("The map “\(target.file.path)” already exists. Use add or import to change it.")
    }
    let resources = target.newResources
    var edited = try EditedMap(target.file, resources: resources) { output.message("\($0)") }
    try edited.save()
    output.message("created \(target.file.path) and \(resources.path)")
    output.line("\(lines: target.steps.joined(separator: "\n\n"))")
    try output.json(["map": target.file.path, "resources": resources.path])
    return .done
}

extension MapChoice {
    /// The steps for the user to do next, as paragraphs. Some contain lines to add to the user's code. The map may be
    /// for a browser alone, or for an app or tests, in a package or an Xcode project.
    fileprivate var steps: [String] {
        let use = """
            Add entries for URLs, or import a browser's recording. Then try the map in a browser:

                \(Shell.invocation) add\(options) URL
                \(Shell.invocation) import\(options) FILE.har
                \(Shell.invocation) serve\(options)
            """
        let app = """
            In the app, run this before anything uses URLSession. For a session with its own
            configuration, write attach(to:) in place of install():

                import Foundation
                import LocalSubstitution

                do {
                    try \(cache)
                        .install()
                } catch {
                    print("No local files are used: \\(error)")
                }
            """
        let copied = [file, resources].map { ".copy(\(String(reflecting: $0.lastPathComponent)))" }
        let package = """
            In Package.swift, add this to the target whose folder has the map and its files:

                resources: [\(copied.joined(separator: ", "))]
            """
        let project = """
            In an Xcode project, write .main in place of .module, and add the map and the folder to
            the app's target. Untick “Build Folder Contents” for \(resources.lastPathComponent).
            """
        let test = """
            In a test that imports LocalSubstitutionTesting, with a path from the test file's folder:

                @Test(.substituting(\(String(reflecting: file.lastPathComponent))))
            """
        return isInBundle ? [use, app, package, project, test] : [use, app, test]
    }

    /// The Swift expression that creates a cache with the map. The expression loads the map from `.module` or, if a
    /// bundle can't contain the map, from its path.
    private var cache: String {
        guard isInBundle else {
            let paths = [file, resources].map { "URL(fileURLWithPath: \(String(reflecting: $0.path)))" }
            return "LocalSubstitutionCache(contentsOf: \(paths[0]), resources: \(paths[1]))"
        }
        let name = file.deletingPathExtension().lastPathComponent
        let map = name == "substitutions" ? "" : ", named: \(String(reflecting: name))"
        return "LocalSubstitutionCache(bundle: .module\(map), invalidEntries: .skip)"
    }
}
