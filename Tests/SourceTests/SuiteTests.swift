#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Suites", .values)
struct SuiteTests {
    @Test("Each suite says what it uses, but for those in another suite, in the documents, or only for child processes")
    func kinds() throws {
        let tests = PackageFolder.root.appendingPathComponent("Tests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: tests.path).filter { $0.hasSuffix(".swift") }
        let manifest = try PackageFolder.text(of: "Package.swift").components(separatedBy: "let threaded = [")
        let threaded = try #require(manifest.dropFirst().first).prefix { $0 != "]" }
        var count = 0
        let suite = #/(?m)^@Suite\((?<traits>.*?)\)\n(?:struct|final class) /#.dotMatchesNewlines()
        for file in files.sorted() where !file.hasSuffix("Snippets.swift") {
            let text = try String(contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
            let suites = text.matches(of: suite).map(\.traits).filter { !$0.contains("ChildProcess.isThis") }
            let target = file.prefix { $0 != "/" }
            if suites.contains(where: { $0.contains(".threads") }) {
                #expect(threaded.contains("\"\(target)\""), "Package.swift: Add \(target) to `threaded`.")
            }
            for traits in suites {
                let kinds = SuiteKind.all.filter { traits.contains(".\($0.name)") }.count
                #expect(kinds == 1, "Tests/\(file): Give the suite one of the traits of SuiteKind: @Suite(\(traits))")
            }
            let hasTests = text.contains("\n    @Test") && !text.contains("@Suite(.enabled(if: ChildProcess.isThis))")
            #expect(!hasTests || !suites.isEmpty, "Tests/\(file): Give the suite a name and a trait of SuiteKind.")
            count += suites.count
        }
        #expect(count > 150)
    }

    @Test(
        "The variable names the only kind to run, and if it's unset or empty, all kinds run",
        arguments: [(nil, true), ("", true), ("values", true), ("threads", false), ("value", false)]
            as [(String?, Bool)]
    )
    func wanted(_ value: String?, _ isWanted: Bool) {
        #expect(SuiteKind(name: "values", places: 1).isWanted(value) == isWanted)
    }

    @Test("Only as many suites run at once as there are places, and a failure gives its place back", arguments: [1, 3])
    func places(_ places: Int) async throws {
        struct Failure: Error {}
        let test = try #require(Test.current)
        let kind = SuiteKind(name: "test", places: places)
        let running = Running()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try? await kind.provideScope(for: test, testCase: nil) {
                        await running.begin()
                        for _ in 0..<10 { await Task.yield() }
                        await running.end()
                        if number.isMultiple(of: 7) { throw Failure() }
                    }
                }
            }
        }
        #expect(await running.count == 0)
        #expect(await running.most <= places)
    }

    @Test("Suites that keep a processor busy take only some of the places, and leave all of them to others in the end")
    func busy() async throws {
        let test = try #require(Test.current)
        let kinds = SuiteKind.pair(places: 3, busy: 1)
        let (all, busy) = (Running(), Running())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let isBusy = number.isMultiple(of: 3)
                group.addTask {
                    try? await (isBusy ? kinds.busy : kinds.other).provideScope(for: test, testCase: nil) {
                        await all.begin()
                        if isBusy { await busy.begin() }
                        for _ in 0..<10 { await Task.yield() }
                        if isBusy { await busy.end() }
                        await all.end()
                    }
                }
            }
        }
        #expect(await all.count == 0)
        #expect(await all.most <= 3)
        #expect(await busy.most == 1)
    }

    private actor Running {
        var (count, most) = (0, 0)

        func begin() {
            count += 1
            most = max(most, count)
        }

        func end() { count -= 1 }
    }

    @Test("The limit for open files is raised, so that a usual limit of 256 is enough")
    func limit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(limit.rlim_cur >= min(limit.rlim_max, 4_096))
    }
}
#endif
