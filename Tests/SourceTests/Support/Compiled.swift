#if os(Linux)
import Foundation

/// The package's targets as the compiler understands them. Each is compiled once per process, whatever tests use it.
enum Compiled {
    typealias Targets = [String: [CompiledFile]]

    /// The targets on Linux.
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
            targets[target] = try await Compiler.compile(target, sources + added, modules: modules, settings: settings)
                .filter { !added.contains($0.path) }
        }
        return targets
    }
}
#endif
