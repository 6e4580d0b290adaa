import Foundation

/// Where a subcommand's results and messages go: results on standard output, messages on standard error.
struct Output: Sendable {
    let printsJSON: Bool
    /// Only on a terminal, and not where `NO_COLOR` is set (no-color.org).
    private let usesColor: Bool

    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    init(printsJSON: Bool) {
        self.printsJSON = printsJSON
        let environment = ProcessInfo.processInfo.environment
        usesColor =
            isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// A line of a result; left out where the result is JSON.
    func line(_ text: String = "") {
        if !printsJSON { write(text + "\n", to: .standardOutput) }
    }

    /// The bytes of a result.
    func bytes(_ data: Data) { write(data, to: .standardOutput) }

    func message(_ text: String) {
        write("substitute: \(text)\n", to: .standardError)
    }

    /// The one JSON document, where that is wanted.
    func json(_ value: some Encodable) throws {
        guard printsJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n", to: .standardOutput)
    }

    func color(_ color: Color, _ text: String) -> String {
        usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Columns as wide as their widest cell; the last one is not padded. A row's color paints its first cell.
    func table(_ rows: [(color: Color?, cells: [String])]) {
        let count = rows.map(\.cells.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.cells.indices.contains(column) ? $0.cells[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            let padded = row.cells.enumerated().map { column, cell in
                column == row.cells.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            let first = padded.first.map { first in row.color.map { color($0, first) } ?? first } ?? ""
            line(([first] + padded.dropFirst()).joined(separator: "  "))
        }
    }

    /// Writes a file, or says in a sentence why it can't. Not atomically: that would put a file in the place of `/dev/null`.
    static func write(_ data: Data, to file: URL) throws(Failure) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard descriptor >= 0 else { throw Failure("can't write \(file.path): \(String(cString: strerror(errno)))") }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: data)
        } catch {
            throw Failure("can't write \(file.path): \(error.localizedDescription)")
        }
    }

    private func write(_ text: String, to handle: FileHandle) { write(Data(text.utf8), to: handle) }

    private func write(_ data: Data, to handle: FileHandle) {
        // A reader that has gone away, as `head`, is no failure of ours.
        try? handle.write(contentsOf: data)
    }
}
