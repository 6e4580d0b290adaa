#if os(Linux)
import Foundation
import TestSupport

/// Runs the toolchain's programs in the package's folder.
enum Compiler {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The settings in Package.swift.
    static let settings =
        ["-swift-version", "6", "-package-name", "package", "-parse-as-library"]
        + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
        .flatMap { ["-enable-upcoming-feature", $0] }

    /// Runs a program to its end. If it fails, its output is in the error.
    static func run(_ words: [String]) async throws {
        let log = temporaryFile("log")
        try Data().write(to: log)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = PackageFolder.root
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try await process.runToEnd()
        try handle.close()
        guard process.terminationStatus != 0 else { return }
        throw Failure(
            description: "“\(words.prefix(3).joined(separator: " ")) …” failed:\n"
                + (try String(contentsOf: log, encoding: .utf8))
        )
    }

    /// Emits a module of files into a folder.
    static func emitModule(_ module: String, _ sources: [String], to modules: URL) async throws {
        let mode = ["-emit-module", "-o", modules.appendingPathComponent("\(module).swiftmodule").path, "-wmo"]
        // Bodies are checked when the files themselves are compiled.
        let declarations = ["-Xfrontend", "-experimental-skip-non-inlinable-function-bodies"]
        let words = mode + declarations + ["-module-name", module, "-I", modules.path]
        try await run(["swiftc"] + words + settings + sources)
    }

    /// Compiles files, using the modules in a folder.
    ///
    /// Uses one process for all files: the driver starts one for each, which takes five times as long and prints unbuffered.
    ///
    /// - Parameter others: Files of the same module of which only the declarations are needed.
    static func compile(
        _ module: String,
        _ sources: [String],
        with others: [String] = [],
        modules: URL,
        settings added: [String] = []
    ) async throws -> [CompiledFile] {
        let output = temporaryFile("trees")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let trees = sources.indices.map { output.appendingPathComponent("\($0).json") }
        let mode = ["-frontend", "-dump-ast", "-dump-ast-format", "json", "-module-name", module, "-I", modules.path]
        let files = zip(sources, trees).flatMap { ["-primary-file", $0, "-o", $1.path] }
        try await run(["swiftc"] + mode + settings + added + files + others)
        return try zip(sources, trees).map { CompiledFile(path: $0, tree: try Data(contentsOf: $1)) }
    }

    static func temporaryFile(_ name: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
    }
}
#endif
