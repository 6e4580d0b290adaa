import Dispatch
import Foundation
import Guarded
import HTTPSyntax
import LocalSubstitution
import MapWriting

/// The output of a subcommand: results go to standard output, and messages go to standard error.
///
/// All other code writes through this class. The class makes text printable, so that the text can't control the
/// terminal. Only help texts and the bytes of a result are written unchanged.
final class Output: Sendable {
    let printsJSON: Bool
    /// Whether results have colors. They do on a terminal, unless `NO_COLOR` is set and not empty (no-color.org).
    private let usesColor =
        Output.isTerminal(STDOUT_FILENO) && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    private let standardOutput = Guarded(StandardOutput.open)
    /// Locked while a result is written. The reader decides how long that takes.
    private let writing = Guarded(())
    private let hasError = Guarded(false)

    private enum StandardOutput: Sendable { case open, closed, failed }

    init(printsJSON: Bool) { self.printsJSON = printsJSON }

    /// Prints a line of a result. Prints nothing if the result is JSON.
    func line(_ text: Text = "") {
        if !printsJSON { write(text.text(colored: usesColor) + "\n") }
    }

    /// Prints help or a version. It's text, even with `--json`.
    ///
    /// - Parameter isMessage: Whether to print on standard error, for a user who didn't ask for help. By default,
    ///   prints on standard output.
    func help(_ text: String, isMessage: Bool = false) {
        if isMessage { Self.tell(text + "\n") } else { write(text + "\n") }
    }

    func message(_ text: Text) { Self.tell("substitute: \(text.text(colored: false))\n") }

    /// Prints an error that doesn't end the command. Its exit status is then `failed`.
    func error(_ text: Text) {
        hasError.withLock { $0 = true }
        message(text)
    }

    var hasPrintedError: Bool { hasError.withLock { $0 } }

    /// Whether an error was printed or writing a result failed. If a reader stops reading, such as `head`, that isn't a
    /// failure.
    var hasFailed: Bool { hasPrintedError || standardOutput.withLock { $0 == .failed } }

    private func write(_ text: String) { bytes(Data(text.utf8)) }

    /// Writes the bytes of a result, unchanged. If a write fails, writes no more results. Reports the failure, unless
    /// the reader has stopped reading.
    func bytes(_ data: Data) {
        writing.withLock { _ in
            guard standardOutput.withLock({ $0 == .open }) else { return }
            let error = WrittenFolder.write(data, to: STDOUT_FILENO)
            guard error != 0 else { return }
            standardOutput.withLock { $0 = error == EPIPE ? .closed : .failed }
            guard error != EPIPE else { return }
            let reason = String(cString: strerror(error)).sentence
            Self.tell(
                "substitute: Standard output can't be written: \(reason) The output is incomplete. "
                    + "Redirect it to another place.\n"
            )
        }
    }

    /// Prints the result as a JSON document. Prints nothing without `--json`.
    ///
    /// - Parameter onOneLine: Whether to print the document on one line, as a subcommand does that prints several
    ///   documents; `false` by default.
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

    /// Escapes control characters that `JSONEncoder` leaves as they are. These characters occur only in strings, where
    /// JSON allows escapes (RFC 8259 §7), and one `\u` escape is enough for each.
    private static func escaped(json: String) -> String {
        json.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.value >= 0x7F, scalar.steersTerminal {
                text += "\\u" + String(scalar.value, radix: 16, width: 4)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Prints a table. Each column but the last is as wide as its widest cell.
    ///
    /// - Parameters:
    ///   - rows: The rows. A row's color applies to its first cell only; `nil` for no color.
    ///   - numbers: The indexes of the columns to align right. By default, none.
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

    /// Such as “163,196 B”.
    static func format(bytes: Int) -> String { "\(bytes.grouped) B" }

    static func format(milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\((tenths / 10).grouped).\(tenths % 10) ms"
    }

    /// Writes the file that `--output` names, and replaces its contents if it exists. Doesn't write to a temporary file
    /// first, since renaming that file would replace `/dev/null`.
    ///
    /// - Throws: An error that says why the file can't be written.
    static func write(_ data: Data, to file: URL) throws(Complaint) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        let error = descriptor < 0 ? errno : WrittenFolder.write(data, to: descriptor)
        if descriptor >= 0 { close(descriptor) }
        guard error == 0 else {
            throw Complaint(
                "“\(file.path)” can't be written: \(String(cString: strerror(error)).sentence) "
                    + "Name another file with --output."
            )
        }
    }

    /// Writes to standard error. Ignores a failure, since the command has no other place to report it.
    private static func tell(_ text: String) { _ = WrittenFolder.write(Data(text.utf8), to: STDERR_FILENO) }

    /// Returns whether a file descriptor is a terminal that understands control sequences.
    private static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}

extension Output {
    /// A JSON object to print. It leaves out members whose value is `nil`.
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

    /// A text color. The raw values are the parameters of the terminal's control sequence (ECMA-48, SGR).
    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// A text for a terminal, made from a string literal with interpolations.
    ///
    /// An interpolated value may come from a server, a map or a URL. Its control characters, including newlines, are
    /// made printable. The literal's own characters stay unchanged. Lines and messages take only this type, so no call
    /// can forget to make values printable.
    struct Text: Sendable, ExpressibleByStringInterpolation {
        private var pieces: [(text: String, color: Color?)] = []

        init(stringLiteral value: String) { pieces = [(value, nil)] }

        init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

        /// - Parameter colored: Whether to include the control sequences for its colors.
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

            /// Appends a text of several lines, such as an explanation. Keeps its newlines, and makes other control
            /// characters printable.
            mutating func appendInterpolation(lines text: String) {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                pieces.append((lines.map { String($0).printable }.joined(separator: "\n"), nil))
            }
        }
    }

    /// A line on standard error that shows progress, until ``end()`` erases it. It's shown only if standard error is a
    /// terminal.
    final class Progress: Sendable {
        private let isOnTerminal = Output.isTerminal(STDERR_FILENO)
        /// The earliest time to show the next text; `nil` before the first text.
        private let next = Guarded<DispatchTime?>(nil)

        /// Shows a text in place of the last one. Ignores the text if a text was shown in the last tenth of a second.
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

        /// Shows a text at the beginning of the line, and erases the rest of the line (ECMA-48, EL).
        private func replace(with text: String) { Output.tell("\r\(text.printable)\u{1B}[K") }
    }
}
