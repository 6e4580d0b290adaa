import LocalSubstitution

/// A text for a terminal. Interpolated values may come from a server, a map or a URL, so they're made printable, including
/// newlines. Literals stay unchanged.
///
/// `Output` takes only this type, so no call can forget it.
struct PrintedText: Sendable, ExpressibleByStringInterpolation {
    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    private var pieces: [(text: String, color: Color?)] = []

    init(stringLiteral value: String) { pieces = [(value, nil)] }

    init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// Returns the text, with or without the escape sequences for its colors (ECMA-48, SGR).
    func text(colored: Bool) -> String {
        pieces.map { piece in
            guard colored, let color = piece.color else { return piece.text }
            return "\u{1B}[\(color.rawValue)m\(piece.text)\u{1B}[0m"
        }.joined()
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [(text: String, color: Color?)] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { pieces.append((literal, nil)) }

        mutating func appendInterpolation(_ value: some CustomStringConvertible, _ color: Color? = nil) {
            pieces.append((value.description.printable, color))
        }

        /// Appends a text of several lines, such as an explanation.
        mutating func appendInterpolation(lines text: String) {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            pieces.append((lines.map { String($0).printable }.joined(separator: "\n"), nil))
        }

        mutating func appendInterpolation(_ text: PrintedText) { pieces += text.pieces }
    }
}
