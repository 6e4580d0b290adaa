#if os(Linux)
import Foundation

/// The package's targets as the compiler understands them. Each is compiled once in a process, whatever tests ask for it.
enum Compiled {
    typealias Targets = [String: [CompiledFile]]

    /// As they are on Linux.
    static func linux() async throws -> Targets { try await linuxTask.value }

    /// As they are on Apple platforms, where `canImport(Darwin)` is true. See `Apple/Darwin.swift`.
    static func apple() async throws -> Targets { try await appleTask.value }

    private static let linuxTask = Task { try await compile(isApple: false) }
    private static let appleTask = Task { try await compile(isApple: true) }

    // With modules of its own: those of the build can't be those of Apple platforms, and hide their `package` declarations, since
    // the package's name there is that of its folder.
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
            // The command isn't for Mac Catalyst.
            let isLibrary = target != PackageFolder.command
            let added = generated + (isApple && isLibrary ? ["\(standIns)/Foundation.swift"] : [])
            if isLibrary {
                try await Compiler.emitModule(target, sources + added, to: modules)
            }
            targets[target] = try await Compiler.compile(target, sources + added, modules: modules, settings: settings)
                .filter { !added.contains($0.path) }
        }
        return targets
    }
}
#endif
