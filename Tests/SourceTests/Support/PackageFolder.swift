#if os(Linux) || os(macOS)
import Foundation

/// The package's files, and the toolchain's.
enum PackageFolder {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The targets in `Sources`, each after the ones it imports.
    static let targets = [
        "Guarded", "HTTPSyntax", "LocalSubstitution", "MapWriting", "LocalSubstitutionRecording", "MapTools",
        "LocalSubstitutionTesting", "WebReferences", "Loopback", "LocalSubstitutionServer", command,
    ]

    static let command = "substitute"

    /// The targets in `Tests` that aren't test targets, each after the ones it imports. SwiftPM builds these, too, for the systems in
    /// Package.swift.
    static let support = ["LoopbackOrigin", "TestSupport", "SchemaValidator"]

    /// The test targets.
    static let tests = [
        "DocumentationTests", "HTTPSyntaxTests", "LocalSubstitutionServerTests", "LocalSubstitutionTestingTests",
        "LocalSubstitutionTests",
        "LoopbackOriginTests", "LoopbackTests", "MapToolsTests", "SourceTests", "SubstituteTests", "WebReferencesTests",
    ]

    /// The targets that apps link.
    static let library = ["Guarded", "HTTPSyntax", "LocalSubstitution", "MapWriting", "LocalSubstitutionRecording"]

    /// The folder `usr/lib/swift` of the toolchain.
    static let toolchain: URL = {
        let programs = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: "\($0)/swiftc") }
        let compiler = programs.first { FileManager.default.isExecutableFile(atPath: $0.path) }
        let folder = compiler?.resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
        return (folder ?? root).appendingPathComponent("lib/swift")
    }()

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns the Swift files of a target, as paths from the root.
    static func sources(of target: String) throws -> [String] {
        let isTest = support.contains(target) || tests.contains(target)
        return try swiftFiles(in: (isTest ? "Tests/" : "Sources/") + target).filter { path in
            !["Tests/SourceTests/Apple/", "/Fixtures/"].contains { path.contains($0) }
        }
    }

    static func swiftFiles(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }
}
#endif
