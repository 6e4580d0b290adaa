import HTTPSyntax

/// A writer of short but readable JSON (RFC 8259).
package enum JSONText {
    /// A JSON string in quotes. A slash isn't escaped.
    package static func string(_ text: String) -> String {
        guard
            text.utf8.contains(where: {
                $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 == 0x7F
            })
        else { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u" + String(scalar.value, radix: 16, width: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// On one line.
    package static func array(_ texts: [String]) -> String {
        "[\(texts.map { string($0) }.joined(separator: ", "))]"
    }

    /// On one line.
    ///
    /// - Parameter members: The keys, and the values as JSON text.
    package static func object(_ members: [(key: String, value: String)]) -> String {
        members.isEmpty ? "{}" : "{ " + members.map { "\(string($0.key)): \($0.value)" }.joined(separator: ", ") + " }"
    }
}
