#if os(Linux)
import Foundation

/// The package's files, and the place where the running tests were built.
enum PackageFolder {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The targets in `Sources`, each after the ones it imports.
    static let targets = [
        "Guarded", "LocalSubstitution", "MapWriting", "LocalSubstitutionRecording", "MapTools",
        "LocalSubstitutionTesting", "WebReferences", "Loopback", "LocalSubstitutionServer", command,
    ]

    static let command = "substitute"

    /// The targets that apps link.
    static let library = ["Guarded", "LocalSubstitution", "MapWriting", "LocalSubstitutionRecording"]

    /// The folder with the program that runs the tests, whatever the scratch path and the configuration.
    static let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the Swift files of a target, as paths from the root.
    static func sources(of target: String) throws -> [String] { try swiftFiles(in: "Sources/\(target)") }

    /// Returns what SwiftPM writes for a target that has resources.
    static func generatedSources(of target: String) throws -> [String] {
        let folder = build.appendingPathComponent("\(target).build/DerivedSources").path
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
            .map { "\(folder)/\($0)" }
    }

    static func swiftFiles(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }
}
#endif
