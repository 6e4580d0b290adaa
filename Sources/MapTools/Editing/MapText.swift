import Foundation
import LocalSubstitution

/// The text of a map, with entries that can be changed and added. Everything else stays as it's written: order, lines, comments.
///
/// A recorder rewrites its own map in order. A map that a person wrote is only edited.
struct MapText {
    private let json: [UInt8]
    private let members: [JSONScanner.Member]

    /// - Throws: If the text isn't a JSON object.
    init(_ json: [UInt8]) throws(JSONCursor.SyntaxError) {
        self.json = json.withoutByteOrderMark
        members = try JSONScanner(self.json).members()
    }

    /// Returns the text with values changed or added by key. The values are JSON. New keys come last, sorted.
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
