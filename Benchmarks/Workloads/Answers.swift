import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The kinds of answer that an entry can have. Each is fetched in an attached session and has 10 kB.

extension Subject {
    fileprivate static let byFile = answers("fetch, attached, by a file") { "\"\(Fixture.file($0))\"" }

    fileprivate static let byText = answers("fetch, attached, by a body in the map") { _ in
        "{ \"text\": \"\(String(repeating: "x", count: size))\" }"
    }

    /// The third of ten alternatives. The others are for other methods, headers and queries.
    fileprivate static let byAlternative = answers("fetch, attached, by the third of ten alternatives") { number in
        let before = [
            #"{ "methods": ["POST"], "status": 201 }"#, #"{ "when": { "headers": { "X": "1" } }, "status": 404 }"#,
        ]
        let after = (0..<6).map { #"{ "when": { "query": { "v": "\#($0)" } }, "methods": ["PUT"], "status": 202 }"# }
        let answer = "{ \"file\": \"\(Fixture.file(number))\", \"methods\": [\"GET\"] }"
        let last = #"{ "methods": ["DELETE"], "status": 204 }"#
        return "[" + (before + [answer] + after + [last]).joined(separator: ", ") + "]"
    }

    fileprivate static let byBody = answers("fetch, attached, by a condition for a body of 10 kB", body: body) {
        number in
        #"{ "methods": ["POST"], "when": { "json": { "operationName": "Me" } }, "file": "\#(Fixture.file(number))" }"#
    }

    fileprivate static let postedByHand = Subject("fetch, by hand, with a body of 10 kB", operations: 200) {
        let keys = (0..<Fixture.files).map(Fixture.key)
        for key in keys { HandWrittenProtocol.bodies[key] = Data(repeating: 0, count: size) }
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [HandWrittenProtocol.self]
        return fetches(keys, configuration, body: body)
    }

    /// A GraphQL request with 100 variables, followed by the operation's name.
    private static let body: Data = {
        let variables = (0..<100).map { "\"variable\($0)\": \"\(String(repeating: "v", count: 80))\"" }
        return Data("{\"variables\": {\(variables.joined(separator: ", "))}, \"operationName\": \"Me\"}".utf8)
    }()

    private static func answers(
        _ name: String,
        body: Data? = nil,
        _ entry: @escaping @Sendable (Int) -> String
    ) -> Subject {
        Subject(name, operations: 200) {
            let keys = (0..<Fixture.files).map(Fixture.key)
            let json = "{" + keys.indices.map { "\"\(keys[$0])\": \(entry($0))" }.joined(separator: ",\n") + "}"
            let fixture = try Fixture(json: json, bytesPerFile: size)
            let configuration = URLSessionConfiguration.default
            try fixture.cache().attach(to: configuration)
            return fetches(keys, configuration, body: body) { withExtendedLifetime(fixture) {} }
        }
    }
}

extension Topic {
    static let answers = Topic(
        name: "answers",
        subjects: [.byFile, .byText, .byAlternative, .byBody, .postedByHand],
        rows: [
            Row(
                "fetch answered by a body in the map, per one by a file",
                .time(.byText),
                per: .time(.byFile),
                .atMost(1.3)
            ),
            Row(
                "by the third of ten alternatives, per the same",
                .time(.byAlternative),
                per: .time(.byFile),
                .atMost(2)
            ),
            Row("by `when.json` on a body of 10 kB, per a POST by hand", .time(.byBody), per: .time(.postedByHand)),
        ]
    )
}
