#if os(Linux)
import Foundation

/// The public declarations of the toolchain's modules, with the Apple systems that they are available from.
///
/// Linux's modules carry Apple's `@available` attributes. FoundationNetworking and Dispatch have few of them, but what they declare
/// is older than any minimum system here.
struct ToolchainSymbols: Sendable {
    struct Symbol: Sendable {
        /// The name, such as `ProcessInfo.systemUptime`.
        let name: String
        /// By platform; empty if there is no attribute.
        var introduced: [String: SystemVersion]
    }

    /// The symbols by USR.
    let symbols: [String: Symbol]

    static func all() async throws -> ToolchainSymbols { try await task.value }

    private static let task = Task { try await extract() }

    private static let modules = [
        "Swift", "Synchronization", "_Concurrency", "_StringProcessing", "FoundationEssentials", "Foundation",
        "FoundationNetworking", "Dispatch",
    ]

    #if arch(arm64)
    private static let machine = "aarch64"
    #else
    private static let machine = "x86_64"
    #endif

    private static func extract() async throws -> ToolchainSymbols {
        let folder = Compiler.temporaryFile("symbols")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for module in modules {
            // Without inherited members, which are the same declarations again and take 50 MB more.
            try await Compiler.run(
                ["swift", "symbolgraph-extract", "-module-name", module, "-target", "\(machine)-unknown-linux-gnu"]
                    + ["-skip-synthesized-members", "-skip-inherited-docs", "-output-dir", folder.path]
            )
        }
        var symbols: [String: Symbol] = [:]
        // A module's extensions of another module's types are in another file, such as `Foundation@Swift.symbols.json`.
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let graph = try JSONDecoder().decode(
                Graph.self,
                from: Data(contentsOf: folder.appendingPathComponent(name))
            )
            for symbol in graph.symbols { add(symbol, to: &symbols) }
        }
        return ToolchainSymbols(symbols: symbols)
    }

    /// Adds a symbol. A declaration that's in several types, each with its own attributes, is as old as the oldest.
    private static func add(_ symbol: Graph.Symbol, to symbols: inout [String: Symbol]) {
        var introduced: [String: SystemVersion] = [:]
        for attribute in symbol.availability ?? [] {
            guard let domain = attribute.domain, let version = attribute.introduced else { continue }
            introduced[domain] = SystemVersion(version.major, version.minor ?? 0)
        }
        let name = symbol.pathComponents.joined(separator: ".")
        guard let known = symbols[symbol.identifier.precise] else {
            symbols[symbol.identifier.precise] = Symbol(name: name, introduced: introduced)
            return
        }
        symbols[symbol.identifier.precise]?.introduced = known.introduced.reduce(into: [:]) { oldest, known in
            oldest[known.key] = introduced[known.key].map { min($0, known.value) }
        }
    }
}

/// The parts of a symbol graph that are read.
private struct Graph: Decodable {
    let symbols: [Symbol]

    struct Symbol: Decodable {
        let identifier: Identifier
        let pathComponents: [String]
        let availability: [Attribute]?
    }

    struct Identifier: Decodable {
        let precise: String
    }

    struct Attribute: Decodable {
        let domain: String?
        let introduced: Version?
    }

    struct Version: Decodable {
        let major: Int
        let minor: Int?
    }
}
#endif
