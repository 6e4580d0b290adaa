import Foundation
import LocalSubstitution

/// A Swift package, as described by `swift package describe`.
struct DescribedPackage: Sendable, Decodable {
    struct Target: Sendable, Decodable {
        struct Resource: Sendable, Decodable {
            let path: String
        }

        let name: String
        /// The target's folder, relative to the package's.
        let path: String
        /// The target's type, such as `library`, `executable` or `test`.
        let type: String
        let productDependencies: [String]?
        let resources: [Resource]?

        var dependsOnLibrary: Bool { productDependencies?.contains("LocalSubstitution") ?? false }

        /// Whether the target has code that can use a map.
        fileprivate var hasCode: Bool { ["library", "executable", "test"].contains(type) }
    }

    struct Dependency: Sendable, Decodable {
        let identity: String
    }

    let dependencies: [Dependency]
    let targets: [Target]

    var dependsOnPackage: Bool {
        dependencies.contains { $0.identity == "localsubstitutioncache" } || targets.contains(where: \.dependsOnLibrary)
    }

    /// Reads the manifest in a folder; returns `nil` if there isn't one.
    init?(in folder: URL) throws(Failure) {
        let manifest = folder.appendingPathComponent("Package.swift", isDirectory: false)
        guard FileManager.default.fileExists(atPath: manifest.path) else { return nil }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            self = try decoder.decode(Self.self, from: Self.description(of: folder))
        } catch {
            throw Failure(
                "\(manifest.path) can't be read: \(String(describing: error).sentence) "
                    + "Correct it, or choose the map's place with --map FOLDER/substitutions.json."
            )
        }
    }

    /// Returns the target with a name; without a name, the only target that depends on the library.
    func target(named name: String?, in folder: URL) throws(Failure) -> Target {
        let manifest = folder.appendingPathComponent("Package.swift", isDirectory: false).path
        let targets = targets.filter(\.hasCode).sorted { $0.name < $1.name }
        if let name {
            if let target = targets.first(where: { $0.name == name }) { return target }
            let nearest = NearestName.of(name, in: targets.map(\.name))
            throw Failure(
                usage:
                    "\(manifest) has no target “\(name)”. "
                    + (nearest.map { "Did you mean “\($0)”?" } ?? "Name one of these: \(Self.list(targets)).")
            )
        }
        let dependents = targets.filter(\.dependsOnLibrary)
        if let target = dependents.first, dependents.count == 1 { return target }
        throw Failure(
            usage:
                dependents.isEmpty
                ? "No target in \(manifest) depends on LocalSubstitution. Name one with --target: \(Self.list(targets))."
                : "\(dependents.count) targets in \(manifest) depend on LocalSubstitution. "
                    + "Name one with --target: \(Self.list(dependents))."
        )
    }

    private static func list(_ targets: [Target]) -> String { targets.map(\.name).joined(separator: ", ") }

    /// Returns SwiftPM's description of the package. Uses a separate build folder, since the SwiftPM that runs this command may
    /// hold the lock on the package's own.
    private static func description(of folder: URL) throws -> Data {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("substitute-describe-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        // Files, since pipes can fill up.
        let files = ["output", "messages"].map { scratch.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Without a sandbox, since macOS can't make one inside that of the plugin that may be running this command.
        process.arguments = [
            "swift", "package", "--disable-sandbox", "--package-path", folder.path, "--scratch-path", scratch.path,
            "describe", "--type", "json",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let lines = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self).split(separator: "\n")
            // The last error is the cause. Those before it only say what was being compiled.
            let line = lines.last { $0.contains("error: ") } ?? lines.last ?? "swift package describe failed"
            throw Failure(line.components(separatedBy: "error: ").last ?? String(line))
        }
        return try Data(contentsOf: files[0])
    }
}
