import Foundation
import LocalSubstitution

/// The text of an entry's value, split into answers: its alternatives or, if it has none, the entry itself.
package struct EntryText {
    package typealias Members = WrittenEntry.Members

    /// An alternative, or an entry without alternatives.
    package struct Answer {
        package let text: String
        package let members: Members

        /// Returns a member's value as JSON; `nil` if the answer doesn't have the member.
        package subscript(name: String) -> String? { members.first { $0.key == name }?.value }
    }

    package let answers: [Answer]
    /// The entry's members other than `alternatives`; empty if it has no alternatives.
    package let shared: Members
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]
    /// The range of the list of alternatives; `nil` if the entry has none.
    private let list: Range<Int>?

    package var hasAlternatives: Bool { list != nil }

    /// The fields that alternatives can't have, since they're for a whole entry.
    package static let ofEntries = ["ignoreQuery", "enabled", "use"]

    /// Parses an entry's value. Returns `nil` for a value that's neither a string, a list nor an object.
    ///
    /// - Parameter value: The entry's value, as JSON.
    package init?(_ value: String) {
        let bytes = Array(value.utf8)
        switch bytes.first {
        case UInt8(ascii: "\""): (shared, list) = ([], nil)
        case UInt8(ascii: "["): (shared, list) = ([], 0..<bytes.count)
        case UInt8(ascii: "{"):
            guard let members = try? JSONScanner(bytes).members() else { return nil }
            list = members.first { $0.key == "alternatives" }?.range
            shared = list == nil ? [] : Self.texts(members.filter { $0.key != "alternatives" }, in: bytes)
        default: return nil
        }
        if let list {
            guard let elements = try? JSONScanner(Array(bytes[list])).elements() else { return nil }
            ranges = elements.map { $0.range.lowerBound + list.lowerBound..<$0.range.upperBound + list.lowerBound }
        } else {
            ranges = [0..<bytes.count]
        }
        answers = ranges.map { range in
            let text = String(decoding: bytes[range], as: UTF8.self)
            // By bytes: a quote and a combining mark after it form one `Character`.
            let isName = bytes[range.lowerBound] == UInt8(ascii: "\"")
            return Answer(text: text, members: isName ? [("file", text)] : Self.members(of: text))
        }
        self.bytes = bytes
    }

    /// Returns the members of a JSON object; an empty array for any other value.
    package static func members(of text: String) -> Members {
        let bytes = Array(text.utf8)
        return texts((try? JSONScanner(bytes).members()) ?? [], in: bytes)
    }

    private static func texts(_ members: [JSONScanner.Member], in bytes: [UInt8]) -> Members {
        members.map { ($0.key, String(decoding: bytes[$0.range], as: UTF8.self)) }
    }

    // MARK: Alternatives

    /// Returns the value of a new entry. If there's only one answer, and it has no condition and no
    /// `times`, the entry has no alternatives.
    ///
    /// - Parameter answers: At least one answer. Each answer has the fields that an entry without alternatives would
    ///   have.
    package static func value(of answers: [Members]) -> String {
        guard let first = answers.first else { return "null" }
        if answers.count == 1, !first.contains(where: { ["when", "times"].contains($0.key) }) {
            return WrittenEntry.text(first)
        }
        let list = "[\n" + lines(answers) + "\n  ]"
        let shared = first.filter { ["ignoreQuery", "enabled"].contains($0.key) }
        return shared.isEmpty ? list : JSONText.object(shared + [("alternatives", list)])
    }

    /// Returns the entry's value with more alternatives, without changing the existing text. Returns `nil` if the entry
    /// has no alternatives yet but has a field that alternatives can't have.
    ///
    /// - Parameter new: At least one alternative. Each has the fields that an entry without alternatives would have.
    package func adding(_ new: [Members]) -> String? {
        guard let list else {
            if answers[0].members.contains(where: { Self.ofEntries.contains($0.key) }) { return nil }
            return "[\n    \(answers[0].text),\n" + Self.lines(new) + "\n  ]"
        }
        let start = ranges.last?.upperBound ?? list.lowerBound + 1
        let text = (ranges.isEmpty ? "\n" : ",\n") + Self.lines(new) + "\n  ]"
        return String(decoding: bytes.replacing([(start..<list.upperBound, text)]), as: UTF8.self)
    }

    /// Returns alternatives with one on each line, without the fields that only entries have.
    private static func lines(_ alternatives: [Members]) -> String {
        alternatives.map { members in "    " + WrittenEntry.text(members.filter { !ofEntries.contains($0.key) }) }
            .joined(separator: ",\n")
    }
}

extension [UInt8] {
    /// Returns the bytes with parts replaced. The parts must be in order, and can't overlap.
    package func replacing(_ parts: [(range: Range<Int>, text: String)]) -> [UInt8] {
        var result: [UInt8] = []
        var copied = 0
        for (range, text) in parts {
            result += self[copied..<range.lowerBound]
            result += text.utf8
            copied = range.upperBound
        }
        return result + self[copied...]
    }
}
