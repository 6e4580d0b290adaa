#if os(Linux)
import Foundation

/// The package's targets as the compiler understands them. Each is compiled once per process, whatever tests use it.
enum Compiled {
    typealias Targets = [String: [CompiledFile]]

    /// The targets in `Sources` on Linux: only the files that are different there. See `dependsOnPlatform(_:)`.
    static func linux() async throws -> Targets { try await linuxTask.value }

    /// The targets on Apple platforms, as far as Linux's compiler can tell: all but the tests. See `AppleSources`.
    static func apple() async throws -> Targets { try await appleTask.value }

    /// Checks the tests as on Apple platforms. A warning is an error.
    static func checkAppleTests() async throws { try await appleTestsTask.value }

    /// Whether to check the tests, which takes minutes: if the gate or a filter asks for it.
    static let checksAppleTests =
        ProcessInfo.processInfo.environment["LOCAL_SUBSTITUTION_APPLE_TESTS"] == "1"
        || zip(CommandLine.arguments, CommandLine.arguments.dropFirst()).contains {
            $0 == "--filter" && $1.contains("Apple")
        }

    private static let linuxTask = Task {
        let modules = Compiler.temporaryFile("modules")
        try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: modules) }
        return try await compile(PackageFolder.targets, Compiler(modules: modules), isApple: false) { _ in [] }
    }

    private static let appleSources = Result { try AppleSources() }

    private static let appleTask = Task {
        let sources = try appleSources.get()
        // The tests' check needs the modules, too.
        defer { if !checksAppleTests { sources.remove() } }
        try await sources.compiler.emitModule("Darwin", [AppleSources.darwin])
        return try await compile(PackageFolder.targets + PackageFolder.support, sources.compiler, isApple: true) {
            try sources.standIns(for: $0)
        }
    }

    private static let appleTestsTask = Task {
        let sources = try appleSources.get()
        defer { sources.remove() }
        _ = try await appleTask.value
        // Two at a time: most targets take a minute, and the other tests end long before.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, target) in PackageFolder.tests.enumerated() {
                if number > 1 { try await group.next() }
                let files = try PackageFolder.sources(of: target) + sources.standIns(for: target)
                group.addTask { try await sources.compiler.check(target, files) }
            }
            try await group.waitForAll()
        }
    }

    // Compiles its own modules. The build's can't be those of Apple platforms, and they hide their `package` declarations, since
    // there the package's name is its folder's.
    private static func compile(
        _ names: [String],
        _ compiler: Compiler,
        isApple: Bool,
        standIns: (String) throws -> [String]
    ) async throws -> Targets {
        // Linux's branches are those of a debug build.
        let settings = isApple ? ["-warnings-as-errors"] : ["-D", "DEBUG"]
        var targets: Targets = [:]
        for target in names {
            let sources = try PackageFolder.sources(of: target)
            let added = try standIns(target)
            if isApple || target != PackageFolder.command {
                try await compiler.emitModule(target, sources + added)
            }
            let files = try sources.filter { try isApple || dependsOnPlatform(PackageFolder.text(of: $0)) }
            targets[target] = []
            guard !files.isEmpty else { continue }
            let others = (sources + added).filter { !files.contains($0) }
            targets[target] = try await compiler.compile(target, files, with: others, settings: settings)
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

/// A copy of the package's sources in which Linux's compiler takes the branches of macOS, and what stands in for what only Apple
/// platforms have, or have otherwise.
struct AppleSources {
    static let darwin = "Tests/SourceTests/Apple/Darwin.swift"

    let folder = Compiler.temporaryFile("apple")

    /// Puts the modules into the folder, too.
    var compiler: Compiler { Compiler(folder: folder, modules: folder) }

    init() throws {
        for path in try ["Sources", "Tests"].flatMap(PackageFolder.swiftFiles) {
            let copy = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Self.asOnMacOS(try PackageFolder.text(of: path)).write(to: copy, atomically: false, encoding: .utf8)
        }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Returns the files to compile with a target's own.
    func standIns(for target: String) throws -> [String] {
        let usesLibrary = try PackageFolder.sources(of: target).contains {
            try PackageFolder.text(of: $0).contains("import LocalSubstitution\n")
        }
        let cache = target == "LocalSubstitution" ? "URLCache.swift" : usesLibrary ? "URLCacheElsewhere.swift" : nil
        let files = cache.map { [$0, "SessionWithCache.swift"] } ?? []
        return (["Foundation.swift"] + files).map { "Tests/SourceTests/Apple/\($0)" }
    }

    /// Returns a source in which conditions are true on Linux if they are on macOS.
    static func asOnMacOS(_ source: String) -> String {
        source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let code = line.drop { $0 == " " }
            guard code.hasPrefix("#if ") || code.hasPrefix("#elseif ") else { return String(line) }
            return line.replacingOccurrences(of: "os(Linux)", with: "os(Windows)")
                .replacingOccurrences(of: "os(macOS)", with: "os(Linux)")
                .replacingOccurrences(of: "canImport(Glibc)", with: "canImport(Nothing)")
        }.joined(separator: "\n")
    }
}
#endif
