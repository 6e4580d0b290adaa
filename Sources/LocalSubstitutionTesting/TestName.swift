#if canImport(Testing)
import Foundation
import LocalSubstitution
import Testing

/// The running test's name and place.
struct TestName: Sendable {
    /// The names of the suites and of the test, without parameters.
    private let components: [String]
    /// The place of the test; that of the scope where there's no current test.
    let location: SourceLocation
    /// Where the trait or the call of `withSubstitutions` is.
    let scope: SourceLocation

    /// - Parameter function: The function to name where there's no current test, such as in XCTest.
    init(function: String, scope: SourceLocation) {
        components = (Test.current?.id.nameComponents ?? [function]).map { String($0.prefix { $0 != "(" }) }
        location = Test.current?.sourceLocation ?? scope
        self.scope = scope
    }

    /// The name as it's shown, such as `Suite/test`.
    var text: String { components.joined(separator: "/") }

    /// A regular expression for the `--filter` option of `swift test`, in quotes if a shell needs them.
    var filter: String {
        let name = components.map { NSRegularExpression.escapedPattern(for: $0.filter { $0 != "`" }) }
            .joined(separator: "/")
        let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "/_".utf8.contains($0) }
        return isPlain ? name : "'\(name.replacingOccurrences(of: "'", with: "."))'"
    }
}
#endif
