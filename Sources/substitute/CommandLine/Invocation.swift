import Foundation

/// The words that start the command again where the user is, such as `swift run -q substitute`.
struct Invocation: Sendable, CustomStringConvertible {
    let description: String

    static let current = Invocation(
        CommandLine.arguments.first ?? "substitute",
        environment: ProcessInfo.processInfo.environment,
        folder: CurrentFolder.current.url
    )

    /// - Parameters:
    ///   - program: The process's first argument. From a shell, it's what was typed; from `swift run`, a path.
    ///   - environment: `LOCAL_SUBSTITUTION_PLUGIN` is the verb of the plugin that runs any command. The plugins set it.
    ///   - folder: The current folder. A plugin's is the package's.
    init(_ program: String, environment: [String: String], folder: URL) {
        let file = program.contains("/") ? CurrentFolder(folder.path, shown: nil).file(program) : nil
        if let verb = environment["LOCAL_SUBSTITUTION_PLUGIN"], !verb.isEmpty {
            // A shell says where the user is.
            let user = environment["PWD"].map { URL(fileURLWithPath: $0, isDirectory: true) }
            let isInPackage = user.map { Self.package(around: $0) == Self.path(of: folder) } ?? true
            let place = isInPackage ? "" : " --package-path \(ShellWord.text(folder.path))"
            description = "swift package\(place) \(ShellWord.text(verb))"
        } else if let file, let package = Self.package(around: folder),
            Self.path(of: file).starts(with: package + [".build"])
        {
            description = "swift run -q substitute"
        } else {
            description = ShellWord.text(program)
        }
    }

    /// Returns the path of the package that SwiftPM finds from a folder: the first one upwards with a manifest.
    private static func package(around folder: URL) -> [String]? {
        var folder = folder.resolvingSymlinksInPath()
        while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
            guard folder.pathComponents.count > 1 else { return nil }
            folder.deleteLastPathComponent()
        }
        return folder.pathComponents
    }

    private static func path(of file: URL) -> [String] {
        file.standardizedFileURL.resolvingSymlinksInPath().pathComponents
    }
}
