#if os(Linux) || os(macOS)
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Each test runs in a separate process, since the environment, `URLSession.shared` and `URLCache.shared` belong to the process.
@Suite("Installing from the environment", .sessions, .timeLimit(.minutes(5)))
struct InstallingFromEnvironmentTests {
    private static let url = "http://nowhere.invalid/a"
    private static let variable = "LOCAL_SUBSTITUTION_MAP"

    private static func text(_ url: String = url, in session: URLSession = .shared) async throws -> String? {
        let data = try? await session.data(from: try #require(URL(string: url))).0
        return data.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a map with one file. Returns the map's path.
    private static func map() throws -> String {
        try CacheFixture(#""\#(url)": "a.txt""#).mapFile.path
    }

    @Test("With a path, the cache is installed and answers", arguments: [false, true])
    func path(isRelative: Bool) async {
        await #expect(processExitsWith: .success) { [isRelative = isRelative as Bool] in
            let file = URL(fileURLWithPath: try InstallingFromEnvironmentTests.map())
            if isRelative {
                #expect(FileManager.default.changeCurrentDirectoryPath(file.deletingLastPathComponent().path))
            }
            setenv(InstallingFromEnvironmentTests.variable, isRelative ? file.lastPathComponent : file.path, 1)
            #expect(LocalSubstitutionCache.installed == nil)
            let cache = try #require(try LocalSubstitutionCache.installFromEnvironment())
            #expect(LocalSubstitutionCache.installed === cache)
            #expect(URLCache.shared === cache)
            #expect(try await InstallingFromEnvironmentTests.text() == "local")
            let session = try #require(LocalSubstitutionCache.installed).makeSession(unmatched: .fail)
            #expect(try await InstallingFromEnvironmentTests.text(in: session) == "local")
            cache.uninstall()
            #expect(LocalSubstitutionCache.installed == nil)
            #expect(try await InstallingFromEnvironmentTests.text() == nil)
        }
    }

    @Test("The value can be the name of a map in the main bundle")
    func bundle() async {
        await #expect(processExitsWith: .success) {
            let folder = try #require(Bundle.main.resourceURL)
            let name = "map-\(UUID().uuidString)"
            let files = [folder.appendingPathComponent("\(name).json"), folder.appendingPathComponent("\(name).txt")]
            defer { for file in files { try? FileManager.default.removeItem(at: file) } }
            try Data(#"{ "\#(InstallingFromEnvironmentTests.url)": { "file": "\#(name).txt" } }"#.utf8).write(
                to: files[0]
            )
            try Data("bundled".utf8).write(to: files[1])
            setenv(InstallingFromEnvironmentTests.variable, name, 1)
            let cache = try #require(try LocalSubstitutionCache.installFromEnvironment())
            #expect(LocalSubstitutionCache.installed === cache)
            #expect(try await InstallingFromEnvironmentTests.text() == "bundled")
        }
    }

    @Test("The value can be the map itself, with its files in the main bundle", arguments: ["", " \n"])
    func json(_ start: String) async {
        await #expect(processExitsWith: .success) { [start = start as String] in
            let url = InstallingFromEnvironmentTests.url
            let file = try #require(Bundle.main.resourceURL).appendingPathComponent("map-\(UUID().uuidString).txt")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data("bundled".utf8).write(to: file)
            let map = #"\#(start){ "\#(url)": { "file": "\#(file.lastPathComponent)", "status": 418 } }"#
            setenv(InstallingFromEnvironmentTests.variable, map, 1)
            let cache = try LocalSubstitutionCache.installFromEnvironment()
            #expect(cache != nil)
            let (body, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            #expect((response as? HTTPURLResponse)?.statusCode == 418)
            #expect(String(decoding: body, as: UTF8.self) == "bundled")
        }
    }

    @Test("Entries get the handlers that code gives, in each case", arguments: ["path", "name", "map"])
    func handlers(_ value: String) async {
        await #expect(processExitsWith: .success) { [value = value as String] in
            let map = #"{ "\#(InstallingFromEnvironmentTests.url)": { "handler": "own" } }"#
            let name = "map-\(UUID().uuidString)"
            let file = try #require(Bundle.main.resourceURL).appendingPathComponent("\(name).json")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(map.utf8).write(to: file)
            let values = ["path": file.path, "name": name]
            setenv(InstallingFromEnvironmentTests.variable, values[value, default: map], 1)
            try LocalSubstitutionCache.installFromEnvironment(handlers: ["own": { _ in .text("handled") }])
            #expect(try await InstallingFromEnvironmentTests.text() == "handled")
        }
    }

    @Test(
        "A wrong value throws an error that says what's wrong, and nothing is installed",
        arguments: [
            ("no/such/map.json", "", "no/such/map.json"), ("NoSuchMap", "", "NoSuchMap.json"),
            (#"{ "h/a": { "status": 0 }, "http://h/b": 7 }"#, "", "h/a"), ("{", "", "map:1:"),
            ("{}", "never", "Set it to “fail” or “load”."),
        ]
    )
    func wrong(_ value: String, _ unmatched: String, _ words: String) async {
        await #expect(processExitsWith: .success) {
            [value = value as String, unmatched = unmatched as String, words = words as String] in
            let former = URLCache.shared
            setenv(InstallingFromEnvironmentTests.variable, value, 1)
            setenv("LOCAL_SUBSTITUTION_UNMATCHED", unmatched, 1)
            let error = #expect(throws: (any Error).self) { try LocalSubstitutionCache.installFromEnvironment() }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(words), "\(text)")
            #expect(LocalSubstitutionCache.installed == nil)
            #expect(URLCache.shared === former)
        }
    }

    @Test("Without the variable, nothing is done", arguments: [nil, "", " "])
    func absent(_ value: String?) async {
        await #expect(processExitsWith: .success) { [value = value as String?] in
            let former = URLCache.shared
            if let value { setenv(InstallingFromEnvironmentTests.variable, value, 1) }
            let cache = try LocalSubstitutionCache.installFromEnvironment(allowInRelease: true)
            #expect(cache == nil)
            #expect(LocalSubstitutionCache.installed == nil)
            #expect(URLCache.shared === former)
        }
    }

    @Test("In a release build, nothing is done unless it's allowed")
    func release() async {
        await #expect(processExitsWith: .success) {
            let former = URLCache.shared
            let environment = [InstallingFromEnvironmentTests.variable: try InstallingFromEnvironmentTests.map()]
            // This is what a build without `DEBUG` calls.
            #expect(try LocalSubstitutionCache.install(from: environment, isAllowed: false) == nil)
            #expect(LocalSubstitutionCache.installed == nil)
            #expect(URLCache.shared === former)
            #expect(try LocalSubstitutionCache.install(from: environment, isAllowed: true) != nil)
            #expect(try await InstallingFromEnvironmentTests.text() == "local")
        }
    }

    @Test(
        "Unmatched requests fail if that's requested, and in both cases each prints a line",
        arguments: ["fail", "load"]
    )
    func unmatched(_ value: String) async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [value = value as String] in
            let origin = try LoopbackServer { _ in .text("network") }
            setenv(InstallingFromEnvironmentTests.variable, try InstallingFromEnvironmentTests.map(), 1)
            setenv("LOCAL_SUBSTITUTION_UNMATCHED", value, 1)
            try LocalSubstitutionCache.installFromEnvironment()
            let loaded = try await InstallingFromEnvironmentTests.text(origin.url("b").absoluteString)
            #expect(loaded == (value == "load" ? "network" : nil))
            #expect(try await InstallingFromEnvironmentTests.text() == "local")
        }
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        let own = lines.filter { $0.hasPrefix("LocalSubstitution: ") }
        #expect(own.count == 1, "\(lines)")
        #expect(own.first?.contains("/b") == true)
    }
}
#endif
