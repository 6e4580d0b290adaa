import Foundation
import Guarded
import LocalSubstitution

/// Where a subcommand's results and messages go: results on standard output, messages on standard error.
///
/// Nothing else in the command writes there. Text can't control the terminal; only the bytes of a body are written unchanged.
struct Output: Sendable {
    let printsJSON: Bool
    private let results = Results()
    /// True on a terminal, unless `NO_COLOR` is set (no-color.org).
    private let usesColor: Bool

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
        let environment = ProcessInfo.processInfo.environment
        usesColor =
            isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Prints a line of a result, unless the result is JSON.
    func line(_ text: PrintedText = "") {
        if !printsJSON { results.write(text.text(colored: usesColor) + "\n") }
    }

    /// Prints help or a version, as text even with `--json`.
    ///
    /// - Parameter isMessage: Whether to print it on standard error, since the user hasn't asked for it.
    func help(_ text: String, isMessage: Bool = false) {
        if isMessage { Self.tell(text + "\n") } else { results.write(text + "\n") }
    }

    /// Writes the bytes of a result.
    func bytes(_ data: Data) { results.write(data) }

    func message(_ text: PrintedText) { Self.tell("substitute: \(text.text(colored: false))\n") }

    /// Whether a result couldn't be written. It isn't a failure if the reader, such as `head`, has gone away.
    var hasFailed: Bool { results.hasFailed }

    /// Shows progress in place of the previous text. An empty text clears it.
    static func progress(_ text: String) {
        // Erases to the end of the line (ECMA-48, EL).
        tell("\r\(text.printable)\u{1B}[K")
    }

    /// Prints the result as one JSON document, if the command prints JSON.
    func json(_ value: some Encodable) throws { try json(value, [.prettyPrinted]) }

    /// Prints one JSON object on one line, if the command prints JSON.
    func jsonLine(_ value: some Encodable) throws { try json(value, []) }

    private func json(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws {
        guard printsJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        results.write(Self.escaped(json: json) + "\n")
    }

    /// Escapes the control characters that the encoder leaves as they are, as JSON allows (RFC 8259 §7). They occur only in strings
    /// and only in the basic plane.
    private static func escaped(json: String) -> String {
        json.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.value >= 0x7F, scalar.steersTerminal {
                text += "\\u" + String(scalar.value, radix: 16, width: 4)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Prints a table. Columns are as wide as their widest cell, and the last one isn't padded. A row's color is for its first
    /// cell.
    ///
    /// - Parameter numbers: The columns that are right-aligned.
    func table(_ rows: [(color: PrintedText.Color?, cells: [String])], numbers: Set<Int> = []) {
        let rows = rows.map { (color: $0.color, cells: $0.cells.map(\.printable)) }
        let count = rows.map(\.cells.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.cells.indices.contains(column) ? $0.cells[column].count : 0 }.max() ?? 0
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

    /// Writes a file, or throws a sentence that says why it can't. It doesn't write atomically, since that would replace
    /// `/dev/null` with a file.
    static func write(_ data: Data, to file: URL) throws(Failure) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard descriptor >= 0 else {
            throw Failure("“\(file.path)” can't be written: \(String(cString: strerror(errno)).sentence)")
        }
        defer { close(descriptor) }
        let error = WrittenFolder.write(data, to: descriptor)
        guard error == 0 else {
            throw Failure("“\(file.path)” can't be written: \(String(cString: strerror(error)).sentence)")
        }
    }

    /// Writes to standard error. There's no place to say that it failed.
    fileprivate static func tell(_ text: String) { _ = WrittenFolder.write(Data(text.utf8), to: STDERR_FILENO) }
}

/// Standard output. After its first failure, which is reported once, nothing more is written.
private final class Results: Sendable {
    private enum State: Sendable { case open, closed, failed }

    private let state = Guarded(State.open)

    var hasFailed: Bool { state.withLock { $0 == .failed } }

    func write(_ text: String) { write(Data(text.utf8)) }

    func write(_ data: Data) {
        state.withLock { state in
            guard state == .open else { return }
            let error = WrittenFolder.write(data, to: STDOUT_FILENO)
            guard error != 0 else { return }
            state = error == EPIPE ? .closed : .failed
            guard state == .failed else { return }
            let reason = String(cString: strerror(error)).sentence
            Output.tell(
                "substitute: Standard output can't be written: \(reason) What was printed is incomplete. "
                    + "Redirect it elsewhere.\n"
            )
        }
    }
}
