#if os(Linux)
import Foundation

/// The package's targets as the compiler understands them. Each is compiled once per process, whatever tests use it.
enum Compiled {
    typealias Targets = [String: [CompiledFile]]

    /// The targets on Linux: only the files that are different there. See `dependsOnPlatform(_:)`.
    static func linux() async throws -> Targets { try await linuxTask.value }

    /// The targets on Apple platforms, where `canImport(Darwin)` is true. See `Apple/Darwin.swift`.
    static func apple() async throws -> Targets { try await appleTask.value }

    private static let linuxTask = Task { try await compile(isApple: false) }
    private static let appleTask = Task { try await compile(isApple: true) }

    // Compiles its own modules. The build's can't be those of Apple platforms, and they hide their `package` declarations, since
    // there the package's name is its folder's.
    private static func compile(isApple: Bool) async throws -> Targets {
        let modules = Compiler.temporaryFile("modules")
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: modules) }
        let standIns = "Tests/SourceTests/Apple"
        if isApple { try await Compiler.emitModule("Darwin", ["\(standIns)/Darwin.swift"], to: modules) }
        let settings = isApple ? [] : ["-D", "DEBUG"]
        var targets: Targets = [:]
        for target in PackageFolder.targets {
            let sources = try PackageFolder.sources(of: target)
            let generated = try PackageFolder.generatedSources(of: target)
            // The command doesn't support Mac Catalyst.
            let isLibrary = target != PackageFolder.command
            let added = generated + (isApple && isLibrary ? ["\(standIns)/Foundation.swift"] : [])
            if isLibrary {
                try await Compiler.emitModule(target, sources + added, to: modules)
            }
            let files = try sources.filter { try isApple || dependsOnPlatform(PackageFolder.text(of: $0)) }
            targets[target] = []
            guard !files.isEmpty else { continue }
            targets[target] = try await Compiler.compile(
                target,
                files,
                with: (sources + added).filter { !files.contains($0) },
                modules: modules,
                settings: settings
            )
        }
        return targets
    }

    /// Returns whether a file is different code on Linux and on Apple platforms as they're compiled here, where both have the same
    /// modules but for Darwin and Glibc.
    static func dependsOnPlatform(_ source: String) -> Bool {
        ["#if ", "#elseif "].flatMap { source.components(separatedBy: $0).dropFirst() }.contains { condition in
            !["canImport(FoundationNetworking)\n", "canImport(Testing)\n"].contains { condition.hasPrefix($0) }
        }
    }
}
#endif
