import Foundation
import TestSupport
import Testing

@testable import substitute

@Suite("Commands that substitute suggests", .values)
struct ShellInvocationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("", to: "Package.swift")
        try folder.write("", to: "Sources/A.swift")
    }

    /// The paths are in the test's folder, unless they begin with a slash.
    private func invocation(_ program: String, in place: String = ".", _ environment: [String: String] = [:]) -> String
    {
        Shell.invocation(of: program, environment: environment, folder: url(place))
    }

    private func url(_ place: String) -> URL {
        place.hasPrefix("/")
            ? URL(fileURLWithPath: place) : folder.url.appendingPathComponent(place).standardizedFileURL
    }

    @Test(
        "They begin with what was typed",
        arguments: [
            ("substitute", "substitute"), ("bin/.build/substitute", "bin/.build/substitute"),
            ("/opt/bin/substitute", "/opt/bin/substitute"), ("../My Tools/substitute", "'../My Tools/substitute'"),
            ("it's", #"'it'\''s'"#), ("/x/.build/debug/substitute", "/x/.build/debug/substitute"), ("", "''"),
        ]
    )
    func typed(_ program: String, _ expected: String) {
        #expect(invocation(program) == expected)
    }

    @Test(
        "They run the product where swift run finds the package",
        arguments: [(".", "."), ("Sources", ".."), (".", "PLACE"), ("Sources", "PLACE")]
    )
    func swiftRun(_ place: String, _ prefix: String) throws {
        let product = ".build/x86_64-unknown-linux-gnu/debug/substitute"
        try folder.write("", to: product)
        let program = "\(prefix.replacing("PLACE", with: folder.url.path))/\(product)"
        #expect(invocation(program, in: place) == "swift run -q substitute")
    }

    @Test("They use the path where swift run finds another package, or none", arguments: ["/", "Sources/Inner"])
    func swiftRunElsewhere(_ place: String) throws {
        try folder.write("", to: "Sources/Inner/Package.swift")
        let program = folder.path(".build/debug/substitute")
        #expect(invocation(program, in: place) == Shell.word(program))
    }

    /// Where the user is, and what the command names then.
    @Test(
        "They call the plugin, and name the package if the user is elsewhere",
        arguments: [".", "Sources", "..", nil]
    )
    func plugin(_ place: String?) {
        var environment = ["LOCAL_SUBSTITUTION_PLUGIN": "substitute-edit"]
        environment["PWD"] = place.map { url($0).path }
        let option = place == ".." ? " --package-path \(Shell.word(folder.url.path))" : ""
        #expect(invocation("/x/substitute", environment) == "swift package\(option) substitute-edit")
    }
}
