import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Entries that a test adds", .sessions, .substituting("Fixtures/inner.json"))
struct AddingTests {
    private static let name = "https://shop.example.com/name"
    private static let other = "https://shop.example.com/other"

    private static func status(_ method: String) async throws -> Int? {
        var request = URLRequest(url: try #require(URL(string: name)))
        request.httpMethod = method
        return (try await URLSession.substituted.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }

    @Test("They come before the map's, from the next request on")
    func first() async throws {
        #expect(try await text(Self.name) == "inner")
        try TestSubstitutions.current.add([Self.name: .text("added"), Self.other: .text("other")])
        #expect(try await [text(Self.name), text(Self.other)] == ["added", "other"])
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched, .matched, .matched])
    }

    @Test("The last ones added come first, and skipped ones leave the request to the others")
    func order() async throws {
        let current = TestSubstitutions.current
        try current.add(["https://shop.example.com/*": .text("pattern")])
        #expect(try await [text(Self.name), text(Self.other)] == ["pattern", "pattern"])
        try current.add([Self.name: .text("second")])
        try current.add([Self.name: [.text("once").times(1)]])
        #expect(try await [text(Self.name), text(Self.name), text(Self.other)] == ["once", "second", "pattern"])
        try current.add([Self.name: .status(204).methods("POST")])
        #expect(try await [Self.status("POST"), Self.status("GET")] == [204, 200])
        try current.add([Self.name: .text("third")])
        #expect(try await text(Self.name) == "third")
        try current.add(["https://shop.example.com/*": .text("all"), Self.other: .text("own")])
        #expect(try await [text(Self.name), text(Self.other)] == ["all", "own"])
    }

    @Test("What an earlier entry has counted stays")
    func counts() async throws {
        let current = TestSubstitutions.current
        try current.add([Self.name: [.text("1").times(1), .text("2").times(1)]])
        #expect(try await text(Self.name) == "1")
        try current.add([Self.other: .text("other")])
        #expect(try await [text(Self.name), text(Self.name)] == ["2", "inner"])
        #expect(current.cache.unusedEntries.map(\.key) == [Self.other])
    }

    @Test("Entries with mistakes throw all of them, and none is added")
    func wrong() async throws {
        let error = #expect(throws: SubstitutionMapError.self) {
            try TestSubstitutions.current.add([
                Self.name: .text("added"), "shop.example.com/a": .text("a"), "https://h/b": .status(7),
                "https://h/c": "no-such-file.txt", "HTTPS://shop.example.com/name": .text("again"),
            ])
        }
        let kinds = error.map { Set($0.problems.map(\.kind)) }
        #expect(kinds == [.invalidKey, .invalidValue, .missingFile, .duplicate], "\(error.debugDescription)")
        #expect(try await text(Self.name) == "inner")
    }

    @Test("Each argument has its own", arguments: 0..<20)
    func arguments(_ number: Int) async throws {
        #expect(try await text(Self.name) == "inner")
        try TestSubstitutions.current.add([Self.name: .text("\(number)")])
        #expect(try await text(Self.name) == "\(number)")
    }

    @Test("They may have files, which are where the map's are, and handlers")
    func filesAndHandlers() async throws {
        try TestSubstitutions.current.add([Self.name: "prices.txt", Self.other: .handler { .text($0.url.path) }])
        #expect(try await [text(Self.name), text(Self.other)] == ["12 euros\n", "/other"])
    }

    @Test(
        "They may have files from the folder that the trait names",
        .substituting([:], resources: "Fixtures/Resources")
    )
    func folder() async throws {
        try TestSubstitutions.current.add([Self.name: "prices.txt"])
        #expect(try await text(Self.name) == "12 euros\n")
    }

    @Test("In withSubstitutions, they end with it")
    func inside() async throws {
        let inner = try await withSubstitutions([:]) {
            let current = TestSubstitutions.current
            try current.add([Self.name: .text("added")])
            let answer = try await text(Self.name)
            #expect(answer == "added")
            return current
        }
        #expect(try await text(Self.name) == "inner")
        Self.expectNoSubstitutions { try inner.add([Self.name: .text("late")]) }
    }

    @Test("Where there are no substitutions, the error says what to write")
    func outside() async throws {
        await Task.detached {
            Self.expectNoSubstitutions { try TestSubstitutions.current.add([Self.name: .text("detached")]) }
        }.value
    }

    private static func expectNoSubstitutions(_ body: () throws -> Void) {
        let error = #expect(throws: (any Error).self, performing: body)
        let text = error?.localizedDescription
        #expect(text?.contains("There are no substitutions here") == true, "\(text ?? "")")
    }

    @Test("Setting the cache's map leaves them")
    func replacedMap() async throws {
        let current = TestSubstitutions.current
        try current.add([Self.name: .text("added")])
        current.cache.map = try SubstitutionMap([Self.name: .text("set"), Self.other: .text("set")])
        #expect(try await [text(Self.name), text(Self.other)] == ["added", "set"])
    }
}
