import Dispatch
import Foundation
import Guarded
import LocalSubstitution
import MapWriting

/// Where a subcommand's results and messages go: results on standard output, messages on standard error.
///
/// Nothing else in the command writes there. Text is made printable, so it can't control the terminal. Only the bytes
/// of a body are written unchanged.
final class Output: Sendable {
    let printsJSON: Bool
    /// Whether to use colors: on a terminal, unless `NO_COLOR` is set (no-color.org).
    private let usesColor =
        Output.isTerminal(STDOUT_FILENO) && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    private let standardOutput = Guarded(StandardOutput.open)

    private enum StandardOutput: Sendable { case open, closed, failed }

    init(printsJSON: Bool) { self.printsJSON = printsJSON }

    /// Prints a line of a result, unless the result is JSON.
    func line(_ text: Text = "") {
        if !printsJSON { write(text.text(colored: usesColor) + "\n") }
    }

    /// Prints help or a version, as text even with `--json`.
    ///
    /// - Parameter isMessage: Whether to print it on standard error, since the user hasn't asked for it.
    func help(_ text: String, isMessage: Bool = false) {
        if isMessage { Self.tell(text + "\n") } else { write(text + "\n") }
    }

    func message(_ text: Text) { Self.tell("substitute: \(text.text(colored: false))\n") }

    /// Whether a result couldn't be written. It isn't a failure if the reader, such as `head`, has gone away.
    var hasFailed: Bool { standardOutput.withLock { $0 == .failed } }

    private func write(_ text: String) { bytes(Data(text.utf8)) }

    /// Writes the bytes of a result. Reports the first failure, and writes nothing more after it.
    func bytes(_ data: Data) {
        standardOutput.withLock { state in
            guard state == .open else { return }
            let error = WrittenFolder.write(data, to: STDOUT_FILENO)
            guard error != 0 else { return }
            state = error == EPIPE ? .closed : .failed
            guard state == .failed else { return }
            let reason = String(cString: strerror(error)).sentence
            Self.tell(
                "substitute: Standard output can't be written: \(reason) What was printed is incomplete. "
                    + "Redirect it elsewhere.\n"
            )
        }
    }

    /// Prints the result as one JSON document, if the command prints JSON.
    ///
    /// - Parameter onOneLine: Whether the document is one of several, each on one line.
    func json(_ object: JSONObject, onOneLine: Bool = false) throws { try encode(object, onOneLine: onOneLine) }

    func json(_ value: some Encodable, onOneLine: Bool = false) throws { try encode(value, onOneLine: onOneLine) }

    private func encode(_ value: some Encodable, onOneLine: Bool) throws {
        guard printsJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !onOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        write(Self.escaped(json: json) + "\n")
    }

    /// Escapes the control characters that the encoder doesn't escape, as JSON allows (RFC 8259 §7). They occur only in
    /// strings, and only in the Basic Multilingual Plane.
    private static func escaped(json: String) -> String {
        json.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.value >= 0x7F, scalar.steersTerminal {
                text += "\\u" + String(scalar.value, radix: 16, width: 4)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Prints a table. Columns are as wide as their widest cell. The last column isn't padded. A row's color applies to
    /// its first cell.
    ///
    /// - Parameter numbers: The columns that are right-aligned.
    func table(_ rows: [(color: Color?, cells: [String])], numbers: Set<Int> = []) {
        let rows = rows.map { (color: $0.color, cells: $0.cells.map(\.printable)) }
        let count = rows.map(\.cells.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.cells.dropFirst(column).first?.count ?? 0 }.max() ?? 0
        }
        for row in rows {
            let padded = row.cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                if numbers.contains(column) { return space + cell }
                return column == row.cells.count - 1 ? cell : cell + space
            }
            line("\(padded.first ?? "", row.color)\(padded.dropFirst().map { "  " + $0 }.joined())")
        }
    }

    /// Returns a number of bytes in groups of three digits, such as 163,196 B.
    static func format(bytes: Int) -> String { "\(bytes.grouped) B" }

    static func format(milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\((tenths / 10).grouped).\(tenths % 10) ms"
    }

    /// Writes a file. Throws an error that says why the file can't be written. Doesn't write atomically, since that
    /// would replace `/dev/null` with a file.
    static func write(_ data: Data, to file: URL) throws(Failure) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        let error = descriptor < 0 ? errno : WrittenFolder.write(data, to: descriptor)
        if descriptor >= 0 { close(descriptor) }
        guard error == 0 else {
            throw Failure("“\(file.path)” can't be written: \(String(cString: strerror(error)).sentence)")
        }
    }

    /// Writes to standard error. Ignores a failure, since there's nowhere to report it.
    private static func tell(_ text: String) { _ = WrittenFolder.write(Data(text.utf8), to: STDERR_FILENO) }

    /// Returns whether a file is a terminal that understands control sequences.
    private static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}

extension Output {
    /// A JSON object to print. Members that are `nil` are left out.
    struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
        private var members: [String: Member] = [:]

        private struct Member: Encodable {
            let value: any Encodable

            func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
        }

        init(dictionaryLiteral members: (String, (any Encodable)?)...) {
            for case (let name, let value?) in members { self.members[name] = Member(value: value) }
        }

        func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
    }

    /// The colors of a terminal, as its control sequences number them (ECMA-48, SGR).
    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// A text for a terminal. Interpolated values may come from a server, a map or a URL, so control characters in
    /// them, including newlines, are made printable. Literals stay unchanged.
    ///
    /// `Output` takes only this type, so no call can forget to make values printable.
    struct Text: Sendable, ExpressibleByStringInterpolation {
        private var pieces: [(text: String, color: Color?)] = []

        init(stringLiteral value: String) { pieces = [(value, nil)] }

        init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

        /// Returns the text, with or without the escape sequences for its colors.
        fileprivate func text(colored: Bool) -> String {
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

            /// Appends a text of several lines, such as an explanation, and keeps its newlines.
            mutating func appendInterpolation(lines text: String) {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                pieces.append((lines.map { String($0).printable }.joined(separator: "\n"), nil))
            }
        }
    }

    /// A line on standard error that shows progress and disappears at the end. It's only shown on a terminal.
    final class Progress: Sendable {
        private let isOnTerminal = Output.isTerminal(STDERR_FILENO)
        /// When the next text may be shown; `nil` before the first text.
        private let next = Guarded<DispatchTime?>(nil)

        /// Shows a text in place of the last one, at most ten times a second.
        func show(_ text: @autoclosure () -> String) {
            guard isOnTerminal else { return }
            let isDue = next.withLock { next in
                if let next, .now() < next { return false }
                next = .now() + .milliseconds(100)
                return true
            }
            if isDue { replace(with: text()) }
        }

        func end() {
            if next.withLock({ $0 != nil }) { replace(with: "") }
        }

        /// Shows a text, and erases to the end of the line (ECMA-48, EL).
        private func replace(with text: String) { Output.tell("\r\(text.printable)\u{1B}[K") }
    }
}
