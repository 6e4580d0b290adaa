#if os(Linux) && compiler(>=6.2)
import Foundation
import TestSupport
import Testing

/// A mistake in a closure could make the compiler complain about the whole literal of entries instead: then the reader looks in
/// the wrong place.
@Suite("The compiler's errors about mistakes in handlers", .sources)
struct HandlerMistakeTests {
    /// A mistake. In the code, `REQUEST` is the closure's parameter.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: [String]
        let error: String
    }

    private static let mistakes = [
        Mistake(
            testDescription: "a wrong member",
            code: [#".text(REQUEST.txt ?? "none")"#],
            error: "value of type 'SubstitutionMap.Request' has no member 'txt'"
        ),
        Mistake(
            testDescription: "a missing return",
            code: ["guard let id = REQUEST.captures.first else { return .status(404) }", ".text(id)"],
            error: "reference to member 'text' cannot be resolved without a contextual type"
        ),
        Mistake(
            testDescription: "a missing try",
            code: [".json(REQUEST.json(Order.self))"],
            error: "call can throw, but it is not marked with 'try'"
        ),
        Mistake(
            testDescription: "a wrong label",
            code: [".text(REQUEST.method).delay(seconds: 1)"],
            error: "extraneous argument label 'seconds:' in call"
        ),
        Mistake(
            testDescription: "a wrong type",
            code: [".status(REQUEST.captures[0])"],
            error: "cannot convert value of type 'String' to expected argument type 'Int'"
        ),
    ]

    @Test("A mistake is the only error, on one line and on several", arguments: mistakes, [true, false])
    func error(_ mistake: Mistake, isOneLine: Bool) async throws {
        try await expectError(of: mistake, in: ".handler", isOneLine: isOneLine)
    }

    private static let mistakesOfOldClosures = [
        Mistake(
            testDescription: "a wrong member",
            code: [#"try (response(to: REQUEST), Data((REQUEST.txt ?? "none").utf8))"#],
            error: "value of type 'URLRequest' has no member 'txt'"
        ),
        Mistake(
            testDescription: "a missing try",
            code: ["(response(to: REQUEST), Data())"],
            error: "call can throw, but it is not marked with 'try'"
        ),
        Mistake(
            testDescription: "a missing await",
            code: ["try wait()", "return try (response(to: REQUEST), Data())"],
            error: "'async' call in a function that does not support concurrency"
        ),
        Mistake(
            testDescription: "a wrong label",
            code: ["try (response(for: REQUEST), Data())"],
            error: "incorrect argument label in call (have 'for:', expected 'to:')"
        ),
        Mistake(
            testDescription: "a wrong type",
            code: ["try (response(to: REQUEST), REQUEST.httpMethod)"],
            error: "tuple type '(HTTPURLResponse, String?)' is not convertible to tuple type '(HTTPURLResponse, Data)'"
        ),
    ]

    @Test(
        "A mistake in another mock's closure is the only error, too",
        arguments: mistakesOfOldClosures,
        [true, false]
    )
    func errorInOldClosure(_ mistake: Mistake, isOneLine: Bool) async throws {
        try await expectError(of: mistake, in: ".handler(for: URLRequest.self)", isOneLine: isOneLine)
    }

    /// - Parameter answer: The function that takes the closure.
    private func expectError(of mistake: Mistake, in answer: String, isOneLine: Bool) async throws {
        let lines = mistake.code.map { $0.replacing("REQUEST", with: isOneLine ? "$0" : "request") }
        let code = lines.joined(separator: isOneLine ? "; " : "\n")
        let handler = isOneLine ? "{ \(code) }" : "{ request in\n\(code)\n}"
        let entries = #"["https://example.com/*": \#(answer) \#(handler)]"#
        // Each place where entries are written.
        let places = [
            "@Test(.substituting(\(entries)))\nfunc trait() {}",
            "func body() async throws {\ntry await withSubstitutions(\(entries)) {}\n}",
            "func map() throws -> SubstitutionMap {\ntry SubstitutionMap(\(entries))\n}",
        ]
        let imports = ["Foundation", "LocalSubstitution", "LocalSubstitutionTesting", "Testing"].map { "import \($0)" }
        let declarations = [
            "struct Order: Codable { let id: Int }", "func wait() async throws {}",
            "func response(to request: URLRequest) throws -> HTTPURLResponse { throw URLError(.badURL) }",
        ]
        let source = (imports + declarations + places).joined(separator: "\n")
        let messages = try await ReaderCode.messages(source, ["-diagnostic-style", "llvm"])
        let errors = messages.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(errors.count == places.count, "\(messages)")
        #expect(errors.allSatisfy { $0.contains(": error: \(mistake.error)") }, "\(messages)")
    }
}
#endif
