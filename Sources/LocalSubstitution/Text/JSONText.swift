/// A writer of short but readable JSON (RFC 8259).
package enum JSONText {
    /// Returns a text as a JSON string, in quotes. A slash isn't escaped.
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

    /// Returns a list of strings on one line.
    package static func array(_ texts: [String]) -> String {
        "[\(texts.map { string($0) }.joined(separator: ", "))]"
    }

    /// Returns an object on one line.
    ///
    /// - Parameter members: The keys, and the values as JSON text.
    package static func object(_ members: [(key: String, value: String)]) -> String {
        members.isEmpty ? "{}" : "{ " + members.map { "\(string($0.key)): \($0.value)" }.joined(separator: ", ") + " }"
    }

    /// Returns an object with one member on each line, sorted by key. Keys that begin with `$` come first.
    ///
    /// - Parameters:
    ///   - members: The values as JSON text, by key.
    ///   - indent: The white space before the closing brace; none by default. Members are indented by two more spaces.
    package static func lines(_ members: [String: String], indent: String = "") -> String {
        guard !members.isEmpty else { return "{}" }
        let sorted = members.ordered { first, second in
            let reserved = (first.key.utf8.first == UInt8(ascii: "$"), second.key.utf8.first == UInt8(ascii: "$"))
            if reserved.0 != reserved.1 { return reserved.0 }
            // “$schema” comes first, since editors look for it there.
            if reserved.0, (first.key == "$schema") != (second.key == "$schema") { return first.key == "$schema" }
            return first.key < second.key
        }
        var text = "{\n"
        for (index, member) in sorted.enumerated() {
            text += "\(indent)  \(string(member.key)): \(member.value)\(index + 1 < sorted.count ? "," : "")\n"
        }
        return text + indent + "}"
    }
}
