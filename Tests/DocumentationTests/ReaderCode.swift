#if os(Linux) && compiler(>=6.2)
import Foundation
import TestSupport

/// Code as a reader of the documents writes it, with the package's modules of this build.
enum ReaderCode {
    /// Returns what the compiler says about code; empty if it compiles.
    ///
    /// - Parameters:
    ///   - isScript: Whether the code has statements outside functions.
    ///   - arguments: More arguments for the compiler.
    static func messages(_ code: String, isScript: Bool = false, _ arguments: [String]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reader-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(isScript ? "main.swift" : "Tests.swift")
        try ("import FoundationNetworking\n" + code).write(to: file, atomically: false, encoding: .utf8)
        let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        let messages = folder.appendingPathComponent("messages")
        try Data().write(to: messages)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", build.appendingPathComponent("Modules").path]
            + [file.path] + (isScript ? [] : ["-parse-as-library"]) + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: messages)
        process.standardOutput = process.standardError
        try await process.runToEnd()
        let text = try String(contentsOf: messages, encoding: .utf8)
        return process.terminationStatus == 0 ? "" : text.isEmpty ? "failed" : text
    }
}
#endif
