import Foundation
import LocalSubstitution
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitutionTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The shared session", .sessions, .timeLimit(.minutes(5)))
struct SharedSessionTests {
    private static let name = "https://shop.example.com/name"

    @Test(
        "URLSession.shared is answered and listed, wherever it's used",
        .substituting(["https://shop.example.com/name": .text("shared").methods("*")], sharedSession: true)
    )
    func answers() async throws {
        #expect(try await text(Self.name, in: .shared) == "shared")
        #expect(try await Task { try await text(Self.name, in: .shared) }.value == "shared")
        #expect(try await Task.detached { try await text(Self.name, in: .shared) }.value == "shared")
        let url = try #require(URL(string: Self.name))
        let body = await withCheckedContinuation { continuation in
            URLSession.shared.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(body == Data("shared".utf8))
        _ = try await URLSession.shared.data(for: order(Self.name))
        #expect(try await text(Self.name) == "shared")
        #expect(TestSubstitutions.current.requests.map(\.outcome) == Array(repeating: .matched, count: 6))
        #expect(try TestSubstitutions.current.requests(matching: Self.name, method: "POST").count == 1)
    }

    @Test(
        "A bundle's map answers it, too",
        .substituting(named: "bundled", in: fixtures, unmatched: .fail, sharedSession: true)
    )
    func bundle() async throws {
        #expect(try await text(Self.name, in: .shared) == "bundled")
        await #expect(throws: URLError.self) { try await text("https://shop.example.com/other", in: .shared) }
    }

    @Test("Without entries, all network fails", .substituting([:], unmatched: .fail, sharedSession: true))
    func nothing() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        await #expect(throws: URLError.self) { try await text(origin.url("a").absoluteString, in: .shared) }
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.unmatched])
        #expect(origin.requests.isEmpty)
    }

    @Test("Only what an entry names is answered, if the network is allowed")
    func load() async throws {
        let origin = try LoopbackServer { _ in .text("network") }
        let url = origin.url("a").absoluteString
        try await withSubstitutions([url: .text("shared")], unmatched: .load, sharedSession: true) {
            let texts = try await [text(url, in: .shared), text(origin.url("b").absoluteString, in: .shared)]
            #expect(texts == ["shared", "network"])
        }
        #expect(try await text(url, in: .shared) == "network")
    }

    @Test("A scope inside another answers until it ends")
    func nested() async throws {
        try await withSubstitutions([Self.name: .text("outer")], sharedSession: true) {
            let inner = try await withSubstitutions([Self.name: .text("inner")], sharedSession: true) {
                try await text(Self.name, in: .shared)
            }
            #expect(inner == "inner")
            let outer = try await text(Self.name, in: .shared)
            #expect(outer == "outer")
        }
    }

    @Test("A cancelled test doesn't wait for its turn", arguments: [true, false])
    func cancelled(_ isEarly: Bool) async throws {
        try await withSubstitutions([:], sharedSession: true) {
            let other = Task.detached {
                if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                try await withSubstitutions([:], sharedSession: true) { _ = Issue.record("it must not run") }
            }
            if !isEarly {
                for _ in 0..<1000 { await Task.yield() }
                other.cancel()
            }
            await #expect(throws: CancellationError.self) { try await other.value }
        }
        // The turn isn't lost.
        try await withSubstitutions([:], sharedSession: true) {}
    }

    @Test(
        "A request outside any test isn't a forgotten one of this test",
        .substituting(["http://127.0.0.1:9/detached": .text("a")])
    )
    func outside() async throws {
        let url = "http://127.0.0.1:9/detached"
        await Task.detached { _ = try? await text(url, in: .shared) }.value
        #expect(try await text(url) == "a")
    }

    @Test("On watchOS, it can't be answered, and the error names what can")
    func withoutProtocols() throws {
        let error = try #require(throws: Complaint.self) { try SharedSession.check(.watch) }
        #expect(error.description.contains("pass URLSession.substituted to the code"))
    }

    @Test("If a session was used before, the error says what helps", arguments: [true, false])
    func tooLate(isOfXCTest: Bool) throws {
        let error = try #require(throws: Complaint.self) {
            try SharedSession.check(.linux, isReached: false, isOfXCTest: isOfXCTest)
        }
        #expect(error.description.hasPrefix("A session was used before this call"))
        #expect(error.description.contains("swift test --parallel") == isOfXCTest)
        let property = "A stored property such as “let client = Client()” is initialized before any test runs."
        #expect(error.description.contains(property) == isOfXCTest)
        #expect(error.description.contains("trait") != isOfXCTest)
        try SharedSession.check(.linux, isReached: true, isOfXCTest: isOfXCTest)
    }

    @Test("Without await, withSubstitutions names the trait, since it can't wait for its turn")
    func synchronous() {
        let error = #expect(throws: (any Error).self) {
            try withSubstitutions([:], sharedSession: true) { _ = Issue.record("it must not run") }
        }
        #expect(error?.localizedDescription.contains("Use the trait") == true)
    }

    @Test(
        "A test's own request isn't a forgotten one where its session asks registered protocols first",
        arguments: [(LoaderTraits.apple, ["GET https://h/b"]), (.linux, ["GET https://h/a", "GET https://h/b"])]
    )
    func forgotten(_ traits: LoaderTraits, _ forgotten: [String]) throws {
        let log = TestSubstitutions.RequestLog(keepsResponses: false, traits: traits)
        let (own, other) = try (#require(URL(string: "https://h/a")), #require(URL(string: "https://h/b")))
        _ = log.begin(URLRequest(url: own), isShared: false)
        for url in [own, other, other] { log.addForgotten(URLRequest(url: url)) }
        #expect(log.forgotten == forgotten)
    }

    #if os(Linux) || os(macOS)
    private static let child = Task { try await ChildProcess.run("ChildSharedSession") }

    @Test(
        "Tests run one at a time, beside others, whose requests pass by",
        arguments: ["first", "second", "OfSuite/third", "OfSuite/alsoThird", "beside", "overlapping"]
    )
    func oneAtATime(_ test: String) async throws {
        let child = try await Self.child.value
        #expect(child.ended.contains("ChildSharedSession/\(test)"), "\(child.output)")
        #expect(child.issues(of: "ChildSharedSession/\(test)").map(\.description) == [])
    }

    @Test("The requests of a test with its own map pass by, too, and are an issue if that map would have responded")
    func besideWithMap() async throws {
        let child = try await Self.child.value
        #expect(child.ended.contains("ChildSharedSession/besideWithMap"), "\(child.output)")
        let issues = child.issues(of: "ChildSharedSession/besideWithMap").map(\.text)
        #expect(issues.count == 1)
        #expect(issues.first?.contains("which this trait doesn't cover") == true, "\(issues)")
    }

    @Test("The trait takes effect before any test runs, even one that uses the session first")
    func afterUse() async throws {
        let child = try await ChildProcess.run("ChildSharedSession/AfterUse/")
        #expect(child.ended.count { $0.hasPrefix("ChildSharedSession/AfterUse/") } == 2, "\(child.output)")
        #expect(child.issues.map(\.description) == [])
    }

    @Test("A recording run records what the shared session loads")
    func recorded() async throws {
        let folder = try TemporaryFolder()
        let map = folder.file("map.json")
        let child = try await ChildProcess.run(
            "ChildSharedSession/recorded",
            environment: [ChildRecording.mapVariable: map.path, "LOCAL_SUBSTITUTION_RECORD": "missing"]
        )
        #expect(child.issues.count == 1, "\(child.output)")
        let recording = folder.file("recorded/ChildSharedSession/ChildSharedSession.recorded.json")
        let bodies = recording.deletingPathExtension()
        #expect(try SubstitutionMap(contentsOf: recording, resources: bodies).count == 2)
    }

    @Test("An issue says if another test may have made the request")
    func detached() async throws {
        let issues = try await Self.child.value.issues(of: "ChildSharedSession/unanswered").map(\.text)
        let note = "It may be another test's request"
        #expect(issues.count == 3, "\(issues)")
        #expect(issues.first { $0.contains("/own\n") }?.contains(note) == false, "\(issues)")
        #expect(issues.first { $0.contains("/detached\n") }?.contains(note) == true, "\(issues)")
        #expect(issues.first { $0.contains("needs a name") }?.contains(note) == true, "\(issues)")
    }

    #if compiler(>=6.3)
    @Test(
        "A test whose code makes its own session gets a warning, unless the map has no entries",
        arguments: [("otherSession", 1), ("offline", 0)]
    )
    func otherSession(_ test: String, warnings: Int) async throws {
        let issues = try await Self.child.value.issues(of: "ChildSharedSession/\(test)")
        #expect(issues.map(\.isWarning) == Array(repeating: true, count: warnings), "\(issues)")
        #expect(issues.allSatisfy { $0.text.contains("TestSubstitutions.current.configuration") }, "\(issues)")
    }
    #endif
    #endif

    // What is installed belongs to the process, so these tests run in separate ones.
    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("An installed cache answers again afterwards, and stays installed")
    func installed() async {
        await #expect(processExitsWith: .success) {
            let cache = LocalSubstitutionCache(
                map: try SubstitutionMap([SharedSessionTests.name: .text("installed").methods("*")])
            )
            try cache.install()
            #expect(try await text(SharedSessionTests.name, in: .shared) == "installed")
            try await withSubstitutions([SharedSessionTests.name: .text("test")], sharedSession: true) {
                #expect(LocalSubstitutionCache.installed === cache)
                let answer = try await text(SharedSessionTests.name, in: .shared)
                #expect(answer == "test")
            }
            #expect(try await text(SharedSessionTests.name, in: .shared) == "installed")
            cache.uninstall()
            #expect(LocalSubstitutionCache.installed == nil)
        }
    }

    #if os(Linux)
    @Test("withSubstitutions says so if a session was used before, and the body doesn't run", arguments: [true, false])
    func tooLateInProcess(isShared: Bool) async {
        await #expect(processExitsWith: .success) { [isShared = isShared as Bool] in
            let origin = try LoopbackServer { _ in .text("network") }
            let session = isShared ? URLSession.shared : URLSession(configuration: .ephemeral)
            _ = try await session.data(from: origin.url("a"))
            let error = await #expect(throws: (any Error).self) {
                try await withSubstitutions([:], sharedSession: true) { _ = Issue.record("it must not run") }
            }
            #expect(error?.localizedDescription.contains("A session was used before this call") == true)
            #expect(try await text(origin.url("a").absoluteString, in: .shared) == "network")
        }
    }
    #endif
    #endif
}
