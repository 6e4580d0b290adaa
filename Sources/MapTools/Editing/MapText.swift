import Foundation
import LocalSubstitution

/// The text of a map in which entries are changed and added, and everything else stays as it is written: order, lines, comments.
///
/// A recorder's map is its own, and written anew in order. A person's is not.
struct MapText {
    private let json: [UInt8]
    private let members: [JSONScanner.Member]

    /// - Throws: If the text isn't a JSON object.
    init(_ json: [UInt8]) throws(JSONCursor.SyntaxError) {
        self.json = ByteOrderMark.removed(from: json)
        members = try JSONScanner(self.json).members()
    }

    /// Returns the text with values, which are JSON, changed or added by key. New keys come last, sorted.
    func changing(_ values: [String: String]) -> Data {
        guard let last = members.last else { return Data((JSONText.lines(values) + "\n").utf8) }
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
}
