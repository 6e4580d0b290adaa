import Foundation
import LocalSubstitution

/// Where a subcommand's results and messages go: results on standard output, messages on standard error.
///
/// Nothing else in the command writes there. Text can't control the terminal; only the bytes of a body are written unchanged.
struct Output: Sendable {
    let printsJSON: Bool
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
        if !printsJSON { Self.write(text.text(colored: usesColor) + "\n", to: .standardOutput) }
    }

    /// Prints help or a version, as text even with `--json`.
    func help(_ text: String, to handle: FileHandle = .standardOutput) { Self.write(text + "\n", to: handle) }

    /// Writes the bytes of a result.
    func bytes(_ data: Data) { Self.write(data, to: .standardOutput) }

    func message(_ text: PrintedText) {
        Self.write("substitute: \(text.text(colored: false))\n", to: .standardError)
    }

    /// Shows progress in place of the previous text. An empty text clears it.
    static func progress(_ text: String) {
        // Erases to the end of the line (ECMA-48, EL).
        write("\r\(text.printable)\u{1B}[K", to: .standardError)
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
        Self.write(Self.escaped(json: json) + "\n", to: .standardOutput)
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
    static func format(bytes: Int) -> String {
        var digits = String(bytes)
        for end in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: end))
        }
        return digits + " B"
    }

    static func format(milliseconds: Double) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// Writes a file, or throws a sentence that says why it can't. It doesn't write atomically, since that would replace
    /// `/dev/null` with a file.
    static func write(_ data: Data, to file: URL) throws(Failure) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard descriptor >= 0 else {
            throw Failure("“\(file.path)” can't be written: \(String(cString: strerror(errno)).sentence)")
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: data)
        } catch {
            throw Failure("“\(file.path)” can't be written: \(error.localizedDescription.sentence)")
        }
    }

    private static func write(_ text: String, to handle: FileHandle) { write(Data(text.utf8), to: handle) }

    private static func write(_ data: Data, to handle: FileHandle) {
        // It isn't an error if the reader, such as `head`, has gone away.
        try? handle.write(contentsOf: data)
    }
}
