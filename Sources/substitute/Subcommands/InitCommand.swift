import Foundation
import LocalSubstitution
import MapTools

let initCommand = Subcommand(
    name: "init",
    summary: "create an empty map and its resources folder",
    details: """
        Creates an empty substitutions.json and a folder Resources. In a Swift package,
        they go into the target that depends on LocalSubstitution, or the one that
        --target names. Elsewhere, they go into the current folder. Prints the code that
        loads the map and, in a package, what Package.swift still needs. Never changes
        an existing map.
        """,
    options: [
        .option("target", "NAME", help: "the target in the package that uses the map"),
        .option("map", .mapFile, help: "the map (default: in the target's or current folder)"),
    ],
    run: initialize
)

private func initialize(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "init takes only options. Name the map with --map FILE.")
    }
    let place = try MapPlace(arguments)
    let target = place.map
    guard !target.exists else {
        throw Failure("The map “\(target.file.path)” already exists. Use add or import to change it.")
    }
    let resources = target.resources
    var edited = try EditedMap(target.file, resources: resources) { output.message("\($0)") }
    try edited.save()
    output.message("created \(target.file.path) and \(resources.path)")
    output.line("\(lines: place.steps.joined(separator: "\n\n"))")
    try output.json(["map": target.file.path, "resources": resources.path])
    return .done
}

/// The place of the map that `init` creates, and the package and target that the map belongs to. The place is the one
/// that `--map` names. Without this option, it's the target's folder, or the current folder if there's no package in
/// it.
private struct MapPlace {
    let map: MapChoice
    /// The package in the current folder; `nil` if there's none. With `--map`, also `nil` for a package that can't be
    /// read.
    let package: DescribedPackage?
    /// The target whose folder has the map; `nil` if the map isn't in a target's folder.
    let target: DescribedPackage.Target?

    init(_ arguments: Arguments) throws {
        let name = arguments.value("target")
        guard arguments.has("map") else {
            package = try DescribedPackage()
            guard package != nil || name == nil else {
                throw Failure(
                    usage:
                        "\(DescribedPackage.manifest) doesn't exist. Run init in the package's folder, or leave out --target."
                )
            }
            target = try package?.target(named: name)
            map = MapChoice(arguments, in: target?.path)
            return
        }
        guard name == nil else {
            throw Failure(usage: "--target and --map both say where the map goes. Leave one out.")
        }
        map = MapChoice(arguments)
        // With --map, the package is only needed for better advice. So ignore a package that can't be read.
        package = try? DescribedPackage()
        let place = map.file.deletingLastPathComponent().standardizedFileURL.path
        target = package?.targets.first {
            Shell.folder.appendingPathComponent($0.path, isDirectory: true).standardizedFileURL.path == place
        }
    }

    /// The names to add to the target's `resources`: the map's and the resources folder's, unless they're already
    /// listed. Empty if a bundle can't contain the map.
    private var missingResources: [String] {
        guard map.isInBundle else { return [] }
        let listed = (target?.resources ?? []).map { Self.realPath(of: URL(fileURLWithPath: $0.path)) }
        return [map.file, map.resources].filter { !listed.contains(Self.realPath(of: $0)) }.map(\.lastPathComponent)
    }

    /// Returns a file's path with the symbolic links in its folder resolved, to compare it with SwiftPM's paths, which
    /// have none.
    private static func realPath(of file: URL) -> String {
        let folder = file.standardizedFileURL.deletingLastPathComponent().resolvingSymlinksInPath()
        return folder.appendingPathComponent(file.lastPathComponent, isDirectory: false).path
    }

    /// The steps for the user to do next, as paragraphs. Some contain lines to add to the user's code.
    var steps: [String] {
        guard let package else { return stepsWithoutPackage }
        var steps: [String] = []
        if !package.dependsOnPackage {
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
        let missing = missingResources
        if !missing.isEmpty {
            let copied = missing.map { ".copy(\(String(reflecting: $0)))" }
            fields.append("resources: [\(copied.joined(separator: ", "))]")
        }
        if !fields.isEmpty {
            let name = target.map { "target \($0.name)" } ?? "the target whose folder has the map and its files"
            steps.append("In Package.swift, in \(name):\n\n    " + fields.joined(separator: ",\n    "))
        }
        if missing.contains("Resources") { steps.append(Self.otherFolder) }
        // A test target gets the steps for tests. All other targets get the steps for apps.
        if target?.type != "test" {
            let attach = "That's for URLSession.shared. For a session with its own configuration, attach the cache"
            steps.append("\(appStep)\n\n\(attach)\ninstead, with attach(to:).")
        }
        if target == nil || target?.type == "test" {
            steps.append(
                """
                In a test, whose target also needs the product LocalSubstitutionTesting. The map's path
                starts at the folder of the test's file:

                    import LocalSubstitutionTesting

                    @Test(.substituting(\(pathInTest)))

                Pass URLSession.substituted to the code that you test. Without the trait, attach the
                map to a session's configuration:

                    try \(map.cache).attach(to: configuration)
                """
            )
        }
        steps.append("Then add entries for URLs, or import a browser's recording:\n\n\(addLines)")
        return steps
    }

    /// The steps for a map outside a package. It may be for a browser alone, or for an app in an Xcode project.
    private var stepsWithoutPackage: [String] {
        let use = """
            Add entries for URLs, or import a browser's recording. Then try the map in a browser:

            \(addLines)
                \(Shell.invocation) serve\(map.options)
            """
        let project = """
            In an Xcode project, write .main in place of .module, and add the map and the folder to
            the app's target.
            """
        let test = """
            In a test with LocalSubstitutionTesting. The path starts at the folder of the test's file:

                @Test(.substituting(\(pathInTest)))
            """
        return map.isInBundle ? [use, appStep, project, Self.otherFolder, test] : [use, appStep, test]
    }

    /// The map's path as a Swift literal for a test. It starts at the folder of the test's file, which `init` takes to
    /// be the folder of the test target that has the map or, without such a target, the map's own folder.
    private var pathInTest: String {
        let file = Self.realPath(of: map.file)
        let folders = (package?.targets ?? []).filter { $0.type == "test" }
            .map { Self.realPath(of: Shell.folder.appendingPathComponent($0.path, isDirectory: true)) + "/" }
        let folder = folders.first { file.hasPrefix($0) }
        return String(reflecting: folder.map { String(file.dropFirst($0.count)) } ?? map.file.lastPathComponent)
    }

    private var addLines: String {
        """
            \(Shell.invocation) add\(map.options) URL
            \(Shell.invocation) import\(map.options) FILE.har
        """
    }

    private var appStep: String {
        """
        In the app, before anything uses URLSession:

            import Foundation
            import LocalSubstitution

            try \(map.cache).install()
        """
    }

    private static let otherFolder = """
        For iOS and similar platforms, call the folder Substitutes instead, since code
        signing rejects a bundle with a folder Resources. In the map, write the folder
        before the files' names, such as Substitutes/logo.png.
        """
}

extension MapChoice {
    /// The Swift expression that creates a cache with the map. The expression loads the map from `.module` or, if a
    /// bundle can't contain the map, from its path.
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

/// The package in the current folder, as described by `swift package describe`.
private struct DescribedPackage: Decodable {
    struct Target: Decodable {
        struct Resource: Decodable {
            let path: String
        }

        let name: String
        /// The target's folder, relative to the package's folder.
        let path: String
        /// The target's type, such as `library`, `executable` or `test`.
        let type: String
        /// The names of other packages' products that the target depends on; `nil` for none.
        let productDependencies: [String]?
        /// The target's resources; `nil` for none.
        let resources: [Resource]?

        var dependsOnLibrary: Bool { productDependencies?.contains("LocalSubstitution") ?? false }

        /// Whether the target's code can use a map: it's a library, an executable or a test target.
        var hasCode: Bool { ["library", "executable", "test"].contains(type) }
    }

    struct Dependency: Decodable {
        let identity: String
    }

    let dependencies: [Dependency]
    let targets: [Target]

    var dependsOnPackage: Bool {
        dependencies.contains { $0.identity == "localsubstitutioncache" } || targets.contains(where: \.dependsOnLibrary)
    }

    static let manifest = Shell.folder.appendingPathComponent("Package.swift", isDirectory: false).path

    /// Reads the manifest in the current folder. Returns `nil` if the folder has none.
    ///
    /// - Throws: A failure if the manifest can't be read.
    init?() throws(Failure) {
        guard FileManager.default.fileExists(atPath: Self.manifest) else { return nil }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            self = try decoder.decode(Self.self, from: Self.description())
        } catch {
            throw Failure(
                "\(Self.manifest) can't be read: \(String(describing: error).sentence) "
                    + "Correct it, or choose the map's place with --map FOLDER/substitutions.json."
            )
        }
    }

    /// Returns the target with a name. If the name is `nil`, returns the only target that depends on the library.
    ///
    /// - Throws: A failure that suggests targets if there's no target with this name. Without a name, throws a failure
    ///   if no target depends on the library, or if several do.
    func target(named name: String?) throws(Failure) -> Target {
        let targets = targets.filter(\.hasCode).sorted { $0.name < $1.name }
        if let name {
            if let target = targets.first(where: { $0.name == name }) { return target }
            let nearest = NearestName.of(name, in: targets.map(\.name))
            let advice = nearest.map { "Did you mean “\($0)”?" } ?? "Name one of these: \(Self.list(targets))."
            throw Failure(usage: "\(Self.manifest) has no target “\(name)”. \(advice)")
        }
        let dependents = targets.filter(\.dependsOnLibrary)
        if let target = dependents.first, dependents.count == 1 { return target }
        let found =
            dependents.isEmpty
            ? "No target in \(Self.manifest) depends" : "\(dependents.count) targets in \(Self.manifest) depend"
        let names = Self.list(dependents.isEmpty ? targets : dependents)
        throw Failure(usage: "\(found) on LocalSubstitution. Choose the map's target with --target: \(names).")
    }

    private static func list(_ targets: [Target]) -> String { targets.map(\.name).joined(separator: ", ") }

    /// Returns the JSON that `swift package describe` prints for the package. Uses a separate build folder, since a
    /// SwiftPM process that runs `substitute` may have locked the package's own.
    ///
    /// - Throws: An error if SwiftPM fails, with SwiftPM's last error message.
    private static func description() throws -> Data {
        #if os(macOS) || os(Linux)
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("substitute-describe-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        // The output goes to files, since nothing reads it while the process runs. A full pipe would block the process.
        let files = ["output", "messages"].map { scratch.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // A plugin may run this command, and plugins run in a sandbox. macOS can't create a second sandbox inside it,
        // so SwiftPM must not try.
        process.arguments = [
            "swift", "package", "--disable-sandbox", "--package-path", Shell.folder.path, "--scratch-path",
            scratch.path,
            "describe", "--type", "json",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let lines = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self).split(separator: "\n")
            // The last error is the cause. Errors before it only say what SwiftPM was compiling.
            let line = lines.last { $0.contains("error: ") } ?? lines.last ?? "swift package describe failed"
            throw Failure(line.components(separatedBy: "error: ").last ?? String(line))
        }
        return try Data(contentsOf: files[0])
        #else
        throw Failure("This system can't run “swift package describe”. Run init on a Mac or on Linux.")
        #endif
    }
}
