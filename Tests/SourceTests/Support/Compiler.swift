#if os(Linux) || os(macOS)
import Foundation
import TestSupport

/// The toolchain's compiler, as it's used for one set of modules.
struct Compiler {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder to which the sources' paths are relative.
    var folder = PackageFolder.root
    /// The folder with the modules that the sources import, and into which modules are emitted.
    let modules: URL
    /// More arguments of every call.
    var arguments: [String] = []

    /// The settings in Package.swift.
    static let settings =
        ["-swift-version", "6", "-package-name", "package", "-parse-as-library"]
        + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
        .flatMap { ["-enable-upcoming-feature", $0] }

    /// Runs a program to its end. If it fails, its output is in the error.
    static func run(_ words: [String], in folder: URL = PackageFolder.root) async throws {
        let log = temporaryFile("log")
        try Data().write(to: log)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
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

    /// Emits a module of files.
    func emitModule(_ module: String, _ sources: [String]) async throws {
        let mode = ["-emit-module", "-o", modules.appendingPathComponent("\(module).swiftmodule").path, "-wmo"]
        // Bodies are checked when the files themselves are compiled.
        let declarations = ["-enable-testing", "-Xfrontend", "-experimental-skip-non-inlinable-function-bodies"]
        try await run(mode + declarations + ["-suppress-warnings"], module, sources)
    }

    /// Compiles files.
    ///
    /// Uses one process for all files: the driver starts one for each, which takes five times as long and prints unbuffered.
    ///
    /// - Parameter others: Files of the same module of which only the declarations are needed.
    func compile(
        _ module: String,
        _ sources: [String],
        with others: [String] = [],
        settings added: [String] = []
    ) async throws -> [CompiledFile] {
        let output = Self.temporaryFile("trees")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let trees = sources.indices.map { output.appendingPathComponent("\($0).json") }
        let files = zip(sources, trees).flatMap { ["-primary-file", $0, "-o", $1.path] }
        // The driver would add these itself.
        let plugins = ["-plugin-path", PackageFolder.toolchain.appendingPathComponent("host/plugins").path]
        let mode = ["-frontend", "-dump-ast", "-dump-ast-format", "json"] + plugins
        try await run(mode + added, module, files + others)
        return try zip(sources, trees).map { CompiledFile(path: $0, tree: try Data(contentsOf: $1)) }
    }

    /// Checks files with all that they contain. A warning is an error.
    func check(_ module: String, _ sources: [String]) async throws {
        try await run(["-typecheck", "-wmo", "-warnings-as-errors", "-enable-testing"], module, sources)
    }

    private func run(_ mode: [String], _ module: String, _ files: [String]) async throws {
        let words = mode + ["-module-name", module, "-I", modules.path] + arguments + Self.settings + files
        try await Self.run(["swiftc"] + words, in: folder)
    }

    static func temporaryFile(_ name: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
    }
}
#endif
