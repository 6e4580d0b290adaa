import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionTesting

@Suite("The place of a test's recording", .values)
struct RecordingPlaceTests {
    @Test(
        "Suites and function become a file's name",
        arguments: [
            (["signIn()"], "signIn"), (["Cart", "signIn()"], "Cart.signIn"), (["A", "B", "c()"], "A.B.c"),
            (["load(id:name:)"], "load-id-name"), (["each(_:)"], "each-_"), (["a_b(_:c:)"], "a_b-_-c"),
            (["größe(é:)"], "größe-é"), (["größe(e\u{301}:)"], "größe-é"), (["名前()"], "名前"), (["f2()"], "f2"),
            // In a raw identifier, other characters are replaced.
            (["`signs in`()"], "signs-in-HASH"), (["Cart", "`a/b: c`(_:)"], "Cart.a-b-c-_-HASH"), (["`!`()"], "HASH"),
            (["Cart", "`?`()"], "Cart-HASH"), (["`../x`()"], "x-HASH"), (["🛒()"], "HASH"),
            ([String(repeating: "a", count: 100) + "()"], String(repeating: "a", count: 100)),
            ([String(repeating: "a", count: 101) + "()"], String(repeating: "a", count: 100) + "-HASH"),
            (["Cart", String(repeating: "b", count: 96)], "Cart." + String(repeating: "b", count: 95) + "-HASH"),
            // A name is cut between characters.
            ([String(repeating: "a", count: 99) + "é()"], String(repeating: "a", count: 99) + "-HASH"),
            ([""], "HASH"),
        ]
    )
    func name(_ components: [String], _ expected: String) throws {
        let name = RecordingPlace.name(components)
        guard expected.hasSuffix("HASH") else { return #expect(name == expected) }
        #expect(name.hasPrefix(expected.dropLast(4)))
        #expect(name.count == expected.count + 4)
        #expect(name.suffix(8).allSatisfy { $0.isHexDigit })
        #expect(name == RecordingPlace.name(components), "the digest is the same in every process")
    }

    @Test(
        "Names that differ only in what's replaced or cut have other digests",
        arguments: [
            (["`a b`()"], ["`a.b`()"]), (["`!`()"], ["`?`()"]),
            ([String(repeating: "a", count: 101)], [String(repeating: "a", count: 102)]),
        ]
    )
    func digest(_ one: [String], _ other: [String]) {
        #expect(RecordingPlace.name(one) != RecordingPlace.name(other))
    }

    @Test(
        "XCTest's names of tests are read on all platforms",
        arguments: [
            ("ShopTests.testSignIn", ["ShopTests", "testSignIn"]),
            ("-[ShopTests testSignIn]", ["ShopTests", "testSignIn"]),
            ("-[Module.ShopTests testSignIn]", ["ShopTests", "testSignIn"]),
            ("Module.ShopTests.testSignIn", ["ShopTests", "testSignIn"]), ("testSignIn", ["testSignIn"]),
        ]
    )
    func xctest(_ name: String, _ components: [String]) {
        #expect(RecordingPlace.components(ofXCTest: name) == components)
    }

    @Test("The recording and its bodies are in a folder with the name of the test's source file")
    func files() {
        let root = URL(fileURLWithPath: "/p/Fixtures/recorded")
        let place = RecordingPlace(in: root, sourceFile: "ShopTests.swift", components: ["Cart", "signIn()"])
        #expect(place.path == "ShopTests/Cart.signIn.json")
        #expect(place.file.path == "/p/Fixtures/recorded/ShopTests/Cart.signIn.json")
        #expect(place.bodies.path == "/p/Fixtures/recorded/ShopTests/Cart.signIn")
        let other = RecordingPlace(in: root, sourceFile: "ShopTests.swift", components: ["cart", "signin()"])
        #expect(place != other && place.folded == other.folded)
    }

    @Test(
        "One test's bodies can have the path of another test's file",
        arguments: [
            (["decoding()"], ["Decoding", "json()"], true), (["decoding()"], ["Decoding", "xml()"], false),
            (["a()"], ["b()"], false),
        ]
    )
    func shared(_ one: [String], _ other: [String], _ isShared: Bool) {
        let root = URL(fileURLWithPath: "/p/recorded")
        let paths = [one, other].map { RecordingPlace(in: root, sourceFile: "T.swift", components: $0).folded }
        #expect(Set(paths[0]).isDisjoint(with: paths[1]) != isShared)
    }

    @Test(
        "A source file's name doesn't lead out of the folder",
        arguments: ["...swift", "..swift", "..", ".swift", ""]
    )
    func inside(_ sourceFile: String) {
        let root = URL(fileURLWithPath: "/p/Fixtures/recorded")
        let place = RecordingPlace(in: root, sourceFile: sourceFile, components: ["a()"])
        let folder = place.path.prefix { $0 != "/" }
        #expect(folder.count == 8 && folder.allSatisfy(\.isHexDigit), "\(place.path)")
        #expect(place.path.dropFirst(9) == "a.json")
    }

    @Test(
        "The folder with recordings is beside the map, or in Fixtures beside the test's file",
        arguments: [
            (
                MapSource.file("Fixtures/shop.json", resources: nil, testFile: "/p/ShopTests.swift"),
                "/p/Fixtures/recorded"
            ),
            (.file("Maps/shop.har", resources: "Files", testFile: "/p/ShopTests.swift"), "/p/Maps/recorded"),
            (.file("shop.json", resources: nil, testFile: "/p/ShopTests.swift"), "/p/recorded"),
            (.file("/m/shop.json", .main, resources: nil, testFile: "/p/ShopTests.swift"), "/m/recorded"),
            (.entries([:], resources: "Files", testFile: "/p/ShopTests.swift"), "/p/Fixtures/recorded"),
            (.bundle(.main, name: "shop", testFile: "/p/ShopTests.swift"), "/p/Fixtures/recorded"),
        ]
    )
    func folder(_ source: MapSource, _ expected: String) {
        #expect(source.recordings.path == expected)
    }
}
