import Foundation
import TestSupport

@testable import substitute

/// The outcome of running a program.
struct Outcome {
    let status: Int32
    /// Whether it exited, rather than being ended by a signal: a crash, or the time limit.
    let hasExited: Bool
    let bytes: Data
    let messages: String

    /// Its standard output.
    var output: String { String(decoding: bytes, as: UTF8.self) }

    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    /// Decodes standard output, which must be one JSON document.
    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: bytes)
    }
}

extension TemporaryFolder {
    /// Runs the command that was built with the tests, in this folder.
    func substitute(_ words: String..., environment: [String: String] = [:]) async throws -> Outcome {
        try await substitute(words, environment: environment)
    }

    func substitute(
        _ words: [String],
        environment: [String: String] = [:],
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        limit: DispatchTimeInterval = .seconds(60)
    ) async throws -> Outcome {
        try await run(
            Executable.substitute(),
            words,
            environment: environment,
            input: input,
            output: output,
            limit: limit
        )
    }

    /// Returns a copy of the command, without the files that the build puts next to it.
    func copyOfSubstitute() throws -> URL {
        let folder = support.appendingPathComponent("bin", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appendingPathComponent("substitute", isDirectory: false)
        // A link if possible, since a copy can't run while a process that another test starts has it open for writing.
        do {
            try FileManager.default.linkItem(at: Executable.substitute(), to: copy)
        } catch {
            try FileManager.default.copyItem(at: Executable.substitute(), to: copy)
        }
        return copy
    }

    /// Runs a program to its end, or kills it at the time limit. Its output goes to files, which never fill up as pipes do.
    func run(
        _ program: URL,
        _ words: [String],
        environment: [String: String] = [:],
        input: FileHandle? = nil,
        output: FileHandle? = nil,
        limit: DispatchTimeInterval = .seconds(60)
    ) async throws -> Outcome {
        let files = ["output", "messages"].map { support.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let handles = try files.map { try FileHandle(forWritingTo: $0) }
        defer { for handle in handles { try? handle.close() } }

        let process = Process()
        process.executableURL = program
        process.arguments = words
        process.currentDirectoryURL = url
        // A shell names the folder as the user does, perhaps with symbolic links.
        process.environment = Self.environment(home: support.path)
            .merging(["PWD": url.path]) { $1 }.merging(environment) { $1 }
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output ?? handles[0]
        process.standardError = handles[1]
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak process] in
            if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        try await process.runToEnd()
        return Outcome(
            status: process.terminationStatus,
            hasExited: process.terminationReason == .exit,
            bytes: try Data(contentsOf: files[0]),
            messages: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
        )
    }

    /// Returns the tests' environment, without variables that would change what the command does.
    private static func environment(home: String) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { name, _ in
            name != "NO_COLOR" && !name.lowercased().hasSuffix("_proxy")
        }
        environment["HOME"] = home
        environment["TMPDIR"] = home
        environment["TERM"] = "xterm"
        return environment
    }
}

/// The place where the build put the command, beside the tests.
enum Executable {
    /// The command as its suggestions name it, outside of packages.
    static func word() throws -> String { Shell.word(try substitute().path) }

    struct NotFound: Error {
        let folders: [String]
    }

    private final class Marker {}

    static func substitute() throws -> URL {
        // On Apple platforms, the test bundle is a folder. On Linux it's a program, and the main bundle is its folder.
        let bundles = [Bundle(for: Marker.self).bundleURL, Bundle.main.bundleURL]
        let folders = bundles.flatMap { [$0, $0.deletingLastPathComponent()] }
        let files = folders.map { $0.appendingPathComponent("substitute", isDirectory: false) }
        let file = files.first { file in
            (try? file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
                && FileManager.default.isExecutableFile(atPath: file.path)
        }
        guard let file else { throw NotFound(folders: folders.map(\.path)) }
        return file
    }
}
