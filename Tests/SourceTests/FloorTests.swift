#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("The oldest supported systems", .sources)
struct FloorTests {
    @Test(
        "No declaration that a target uses is newer than the systems in Package.swift",
        arguments: PackageFolder.targets + PackageFolder.support
    )
    func declarations(_ target: String) async throws {
        let symbols = try await ToolchainSymbols.all().symbols
        let isCommand = target == PackageFolder.command
        let floor = try Self.floor().filter { !isCommand || $0.key == "macOS" }
        #expect(floor.count == (isCommand ? 1 : 5))
        // Not as compiled on Linux, whose own code may use anything available there.
        let files = try #require(try await Compiled.apple()[target])
        var found: [String: Set<String>] = [:]
        for file in files {
            for symbol in file.used.compactMap({ symbols[$0] }) where !Floor.exceptions.contains(symbol.name) {
                for (system, version) in symbol.introduced {
                    guard let oldest = floor[system], oldest < version else { continue }
                    found[symbol.name, default: []].insert("\(system) \(version) in \(file.path)")
                }
            }
        }
        let known = Set(Floor.notYet[target] ?? [])
        for (name, places) in found.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            Issue.record("\(target): \(name) needs \(places.sorted().joined(separator: ", ")). Use something older.")
        }
        #expect(known.subtracting(found.keys).isEmpty, "Nothing uses these any more. Remove them from `Floor.notYet`.")
    }

    @Test(
        "The toolchain's modules say how old a declaration is",
        arguments: [
            ("Mutex", 15), ("ContinuousClock", 13), ("Duration", 13), ("Regex", 13), ("URL.host(percentEncoded:)", 13),
            ("String.init(validating:as:)", 15), ("UInt128", 15),
        ]
    )
    func known(_ name: String, _ version: Int) async throws {
        let symbols = try await ToolchainSymbols.all().symbols.values.filter { $0.name == name }
        #expect(symbols.contains { $0.introduced["macOS"] == SystemVersion(version) })
    }

    @Test("What only newer Apple systems have is used inside if #available")
    func standIns() throws {
        let check = try NewerUses(SourceText(try PackageFolder.text(of: "Tests/SourceTests/Apple/Foundation.swift")))
        #expect(check.declared.keys.sorted() == ["usesClassicLoadingMode"])
        for path in try PackageFolder.targets.flatMap(PackageFolder.sources) {
            let problems = try check.problems(in: SourceText(try PackageFolder.text(of: path)))
            for problem in problems { Issue.record("\(path):\(problem)") }
        }
    }

    @Test(
        "Uses outside if #available are found",
        arguments: [
            ("x.mode = true", 1), ("if #available(macOS 15.4, iOS 18.4, *) { x.mode = true }", 0),
            ("if #available(macOS 15.4, iOS 18.4, *), x.mode {}", 0),
            ("if #available(macOS 16, iOS 19, *) { x.mode = true }", 0),
            ("if #available(macOS 15.3, iOS 18.4, *) { x.mode = true }", 1),
            ("if #available(macOS 15.4, *) { x.mode = true }", 1),
            ("if #available(macOS 15.4, iOS 18.4, *) { run { x.mode = true } }", 0),
            ("if #available(macOS 15.4, iOS 18.4, *) {} else { x.mode = true }", 1),
            ("if #available(macOS 15.4, iOS 18.4, *) {}\nx.mode = true", 1),
            ("guard #available(macOS 15.4, iOS 18.4, *) else { return }\nx.mode = true", 1),
            ("// x.mode\nlet text = \"mode\"", 0), ("x.modes = true", 0),
        ]
    )
    func newerUses(_ source: String, _ count: Int) throws {
        let standIns = SourceText(
            "extension C {\n    @available(macOS 15.4, iOS 18.4, *)\n    var mode: Bool { true }\n}"
        )
        #expect(try NewerUses(standIns).problems(in: SourceText(source)).count == count)
    }

    @Test("No type needs a newer system at run time")
    func types() throws {
        let paths = try PackageFolder.targets.flatMap(PackageFolder.sources)
        let texts = try paths.map { SourceText(try PackageFolder.text(of: $0)) }
        let check = try RuntimeFloor(texts)
        for (path, text) in zip(paths, texts) {
            for problem in try check.problems(in: text) { Issue.record("\(path):\(problem)") }
        }
    }

    @Test(
        "Types that need a newer system at run time are found",
        arguments: [
            ("var all: any Sequence<Int>", 1), ("func f(_ all: any Collection < Int >) {}", 1),
            ("let all: [any Foundation.Sequence<Int>]", 1), ("var all: any Sequence", 0),
            ("// any Sequence<Int>\nlet text = \"any Sequence<Int>\"", 0),
            ("let text = \"\\(all as any Sequence<Int>)\"", 1),
            ("struct S {\n    let body: (Int) throws(E) -> Int\n}", 1),
            ("struct S {\n    let body: (@Sendable (Int) async throws(E) -> Int)?\n}", 1),
            ("struct S {\n    let all: [String: () throws(E) -> Int]\n}", 1),
            ("enum S {\n    case body(() throws(E) -> Int)\n}", 1), ("typealias Body = () throws(E) -> Int", 1),
            ("func f() -> (() throws(E) -> Int)", 1),
            ("func f<R, E>(_ body: (inout R) throws(E) -> sending R) throws(E) -> sending R { try body(&r) }", 0),
            ("init?(_ body: @escaping (() throws(E) -> Int)) throws(E) {}", 0),
            ("func f(a: Int) throws(E) -> Int {}", 0),
            ("let r = lock.withLock { (value) throws(E) -> Int in value }", 0),
            ("let r = lock.withLock { value throws(E) in value }", 0),
            ("struct Lock: ~Copyable {}\nvar lock: Lock?", 1),
            ("struct Lock<V>: ~Copyable {}\nvar locks: [Lock<[Int]>]", 1),
            ("struct Lock: ~Copyable {}\nvar lock: Optional<Lock>", 1),
            ("struct Lock: ~Copyable {}\nlet lock: Lock", 0),
            ("struct Lock<V>: ~Copyable {}\nlet lock: Lock<Int?>", 0), ("struct Lock {}\nvar lock: Lock?", 0),
        ]
    )
    func runtime(_ source: String, _ count: Int) throws {
        let text = SourceText(source)
        #expect(try RuntimeFloor([text]).problems(in: text).count == count)
    }

    /// Returns the systems in Package.swift.
    private static func floor() throws -> [String: SystemVersion] {
        let manifest = try PackageFolder.text(of: "Package.swift")
        let pattern = #/\.(\w+)\(\.v(\d+)(?:_(\d+))?\)/#
        let pairs = manifest.matches(of: pattern).map { match in
            (String(match.1), SystemVersion(Int(match.2) ?? 0, match.3.flatMap { Int($0) } ?? 0))
        }
        return Dictionary(pairs) { $1 }
    }
}
#endif
