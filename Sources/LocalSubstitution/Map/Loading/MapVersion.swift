import Foundation
import HTTPSyntax

/// The version of the map format that a map needs: the value of its `$version`.
package struct MapVersion: Comparable {
    static let key = "$version"
    /// The newest version that this library understands.
    static let current = MapVersion("1.0")

    private let text: String
    private let numbers: [Int]

    private init(_ text: String) {
        self.text = text
        // A number that is too large for `Int` is newer than any known version, too.
        numbers = text.components(separatedBy: ".").map { Int($0) ?? .max }
    }

    package static func < (first: Self, second: Self) -> Bool {
        first.numbers.lexicographicallyPrecedes(second.numbers)
    }

    /// `nil` if the member isn't `$version`, or if this library understands the version.
    package static func problem(of member: JSONScanner.Member) -> SubstitutionMap.Problem? {
        func problem(_ kind: SubstitutionMap.Problem.Kind, _ message: String) -> SubstitutionMap.Problem {
            .init(kind, key: member.key, line: member.line, message)
        }
        guard member.key == key else { return nil }
        let advice = "Write two numbers with a period between them, such as \"\(current.text)\"."
        guard let text = member.text else {
            return problem(.wrongType, "The value must be a string. \(advice)")
        }
        guard isVersion(text) else {
            return problem(.invalidValue, "“\(text)” isn't a version. \(advice)")
        }
        guard MapVersion(text) > current else { return nil }
        return problem(
            .newerVersion,
            "This map needs version \(text) or later; this is \(current.text). "
                + "Update the package LocalSubstitutionCache."
        )
    }

    /// Whether the text is two numbers with a period between them. Numbers other than 0 don't begin with 0, so that
    /// each version has one spelling.
    private static func isVersion(_ text: String) -> Bool {
        let numbers = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { number in
                number.allSatisfy(\.isDigit)
                    && (number.count == 1 || (number.first ?? UInt8(ascii: "0")) != UInt8(ascii: "0"))
            }
    }
}
