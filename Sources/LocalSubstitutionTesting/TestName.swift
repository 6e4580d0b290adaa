#if canImport(Testing)
import Foundation
import Testing

/// A test's name, for the `--filter` option of `swift test`.
struct TestName: Sendable {
    /// A regular expression that matches the test, in quotes if a shell needs them.
    let filter: String

    /// - Parameter function: The function to name where there's no current test, such as in XCTest.
    init(function: String) {
        let components = Test.current?.id.nameComponents ?? [function]
        let name = components.map { component in
            let name = component.prefix { $0 != "(" }.filter { $0 != "`" }
            return NSRegularExpression.escapedPattern(for: String(name))
        }.joined(separator: "/")
        let isPlain = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "_") || Self.isAlphanumeric($0)
        }
        filter = isPlain ? name : "'\(name.replacingOccurrences(of: "'", with: "."))'"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
#endif
