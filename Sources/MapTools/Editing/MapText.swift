import Foundation
import LocalSubstitution
import MapWriting

/// Changes to the JSON text of a map, such as one that a person wrote. Entries are changed and added. All other text
/// stays as it's written: order, lines, comments.
enum MapText {
    /// The fields of an entry or of an alternative, and their values as JSON.
    typealias Members = [(key: String, value: String)]

    /// Returns a map's text with values changed or added by key. The values are JSON. New keys come last, sorted.
    ///
    /// - Parameter json: The map, which is a JSON object; `nil` if there is none yet.
    static func changing(_ json: [UInt8]?, _ values: [String: String]) -> Data {
        let json = (json ?? []).withoutByteOrderMark
        guard let members = try? JSONScanner(json).members(), let last = members.last else {
            return Data((JSONText.lines(values) + "\n").utf8)
        }
        var text = Data()
        var copied = 0
        var new = values
        for member in members {
            guard let value = new.removeValue(forKey: member.key) else { continue }
            text += json[copied..<member.range.lowerBound]
            text += value.utf8
            copied = member.range.upperBound
        }
        text += json[copied..<last.range.upperBound]
        for (key, value) in new.sorted(by: { $0.key < $1.key }) {
            text += ",\n  \(JSONText.string(key)): \(value)".utf8
        }
        return text + json[last.range.upperBound...]
    }

    // MARK: Alternatives

    /// Returns the value of a new entry. If there's only one answer and it's for every request, the entry has no alternatives.
    ///
    /// - Parameter answers: The fields of each answer, written as for an entry without alternatives. At least one.
    static func value(of answers: [Members]) -> String {
        guard let first = answers.first else { return "null" }
        if answers.count == 1, !first.contains(where: { ["when", "times"].contains($0.key) }) {
            return WrittenEntry.text(first)
        }
        let list = list(answers.map(alternative))
        let shared = first.filter { ["ignoreQuery", "enabled"].contains($0.key) }
        return shared.isEmpty ? list : JSONText.object(shared + [("alternatives", list)])
    }

    /// Returns an entry's value with more alternatives; `nil` if it can't have any. The text that's already there doesn't change.
    ///
    /// - Parameters:
    ///   - old: The entry's value so far.
    ///   - new: The fields of each new alternative, written as for an entry without alternatives. At least one.
    static func value(_ old: String, adding new: [Members]) -> String? {
        let new = new.map(alternative)
        switch old.utf8.first {
        case UInt8(ascii: "\""): return list([old] + new)
        case UInt8(ascii: "["): return inserting(new, beforeEndOf: old)
        case UInt8(ascii: "{"):
            guard let members = try? JSONScanner(Array(old.utf8)).members() else { return nil }
            guard let list = members.first(where: { $0.key == "alternatives" }) else {
                return members.contains { ["ignoreQuery", "use", "enabled"].contains($0.key) }
                    ? nil : self.list([old] + new)
            }
            let bytes = Array(old.utf8)
            let text = { (range: Range<Int>) in String(decoding: bytes[range], as: UTF8.self) }
            guard let inside = inserting(new, beforeEndOf: text(list.range)) else { return nil }
            return text(0..<list.range.lowerBound) + inside + text(list.range.upperBound..<bytes.count)
        default: return nil
        }
    }

    /// Returns an alternative's JSON, without the fields that only entries have.
    private static func alternative(_ members: Members) -> String {
        WrittenEntry.text(members.filter { !["ignoreQuery", "enabled", "use"].contains($0.key) })
    }

    /// Returns a JSON list with one alternative on each line.
    private static func list(_ alternatives: [String]) -> String {
        "[\n" + alternatives.map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
    }

    private static func inserting(_ new: [String], beforeEndOf list: String) -> String? {
        guard list.hasPrefix("["), list.hasSuffix("]") else { return nil }
        let inside = list.dropFirst().dropLast()
        guard let last = inside.lastIndex(where: { !$0.isWhitespace }) else { return self.list(new) }
        return "[" + inside[...last] + ",\n" + new.map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
    }
}
