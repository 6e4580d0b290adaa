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
        let lines = mistake.code.map { $0.replacing("REQUEST", with: isOneLine ? "$0" : "request") }
        let code = lines.joined(separator: isOneLine ? "; " : "\n")
        let handler = isOneLine ? "{ \(code) }" : "{ request in\n\(code)\n}"
        let entries = #"["https://example.com/*": .handler \#(handler)]"#
        // Each place where entries are written.
        let places = [
            "@Test(.substituting(\(entries)))\nfunc trait() {}",
            "func body() async throws {\ntry await withSubstitutions(\(entries)) {}\n}",
            "func map() throws -> SubstitutionMap {\ntry SubstitutionMap(\(entries))\n}",
        ]
        let imports = ["Foundation", "LocalSubstitution", "LocalSubstitutionTesting", "Testing"].map { "import \($0)" }
        let source = (imports + ["struct Order: Codable { let id: Int }"] + places).joined(separator: "\n")
        let messages = try await ReaderCode.messages(source, ["-diagnostic-style", "llvm"])
        let errors = messages.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(errors.count == places.count, "\(messages)")
        #expect(errors.allSatisfy { $0.contains(": error: \(mistake.error)") }, "\(messages)")
    }
}
#endif
