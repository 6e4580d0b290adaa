#if os(Linux)
import Foundation

/// A source file's text without comments and the contents of strings. Spaces replace them, so lines and columns stay the same. Code
/// in a string's interpolations stays.
struct SourceText {
    let code: String
    /// The contents of the strings, each up to its next interpolation, as they are written.
    let strings: [(text: String, line: Int)]

    init(_ source: String) {
        var scanner = Scanner(source)
        scanner.scan()
        code = String(decoding: scanner.text, as: UTF8.self)
        strings = scanner.strings
    }

    var lines: [Substring] { code.split(separator: "\n", omittingEmptySubsequences: false) }

    /// Returns the matches of a regular expression and of its first group.
    func matches(_ pattern: String) throws -> [(all: Substring, group: Substring?)] {
        let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        return expression.matches(in: code, range: NSRange(code.startIndex..., in: code)).compactMap { match in
            guard let all = Range(match.range, in: code) else { return nil }
            let group = match.numberOfRanges > 1 ? Range(match.range(at: 1), in: code) : nil
            return (code[all], group.map { code[$0] })
        }
    }

    /// Returns the line of a place in the code, from 1.
    func line(of place: Substring) -> Int {
        code[..<place.startIndex].reduce(1) { $1 == "\n" ? $0 + 1 : $0 }
    }

    private struct Scanner {
        var text: [UInt8]
        private(set) var strings: [(text: String, line: Int)] = []
        private var at = 0
        /// The state of the code that's being read: in how many parentheses of which string's interpolation.
        private var open: [(hashes: Int, isMultiline: Bool, parentheses: Int)] = []

        init(_ source: String) { text = Array(source.utf8) }

        mutating func scan() {
            while at < text.count {
                switch text[at] {
                case UInt8(ascii: "/") where starts(with: "//"): blank(while: { $0 != UInt8(ascii: "\n") })
                case UInt8(ascii: "/") where starts(with: "/*"): comment()
                case UInt8(ascii: "#"), UInt8(ascii: "\""): stringStart()
                case UInt8(ascii: "("):
                    if !open.isEmpty { open[open.count - 1].parentheses += 1 }
                    at += 1
                case UInt8(ascii: ")"): closing()
                default: at += 1
                }
            }
        }

        private func starts(with token: String, at offset: Int = 0) -> Bool {
            text[min(at + offset, text.count)...].starts(with: token.utf8)
        }

        private mutating func blank(_ count: Int = 1) {
            for index in at..<min(at + count, text.count) where text[index] != UInt8(ascii: "\n") {
                text[index] = UInt8(ascii: " ")
            }
            at += count
        }

        private mutating func blank(while condition: (UInt8) -> Bool) {
            while at < text.count, condition(text[at]) { blank() }
        }

        /// Reads a comment. Comments of this form nest.
        private mutating func comment() {
            var depth = 0
            repeat {
                if starts(with: "/*") {
                    depth += 1
                    blank(2)
                } else if starts(with: "*/") {
                    depth -= 1
                    blank(2)
                } else {
                    blank()
                }
            } while depth > 0 && at < text.count
        }

        private mutating func stringStart() {
            let hashes = text[at...].prefix { $0 == UInt8(ascii: "#") }.count
            at += hashes
            guard starts(with: "\"") else { return }
            let isMultiline = starts(with: "\"\"\"")
            at += isMultiline ? 3 : 1
            string(hashes, isMultiline)
        }

        /// Reads to the string's end, or to the code of its next interpolation.
        private mutating func string(_ hashes: Int, _ isMultiline: Bool) {
            let delimiter = String(repeating: "#", count: hashes)
            let end = (isMultiline ? "\"\"\"" : "\"") + delimiter
            let escape = "\\" + delimiter
            var content: [UInt8] = []
            defer {
                // Only a line break isn't blanked, so the lines can still be counted.
                let line =
                    text[..<at].count { $0 == UInt8(ascii: "\n") } - content.count { $0 == UInt8(ascii: "\n") } + 1
                if !content.isEmpty { strings.append((String(decoding: content, as: UTF8.self), line)) }
            }
            while at < text.count {
                if starts(with: end) {
                    at += end.utf8.count
                    return
                }
                if starts(with: escape + "(") {
                    blank(escape.utf8.count + 1)
                    open.append((hashes, isMultiline, 0))
                    return
                }
                // A single-line string ends here, even if this code was wrong to take it for a string.
                if !isMultiline, text[at] == UInt8(ascii: "\n") { return }
                let length = starts(with: escape) ? escape.utf8.count + 1 : 1
                content += text[at..<min(at + length, text.count)]
                blank(length)
            }
        }

        private mutating func closing() {
            guard let last = open.last else {
                at += 1
                return
            }
            if last.parentheses > 0 {
                open[open.count - 1].parentheses -= 1
                at += 1
            } else {
                open.removeLast()
                blank()
                string(last.hashes, last.isMultiline)
            }
        }
    }
}
#endif
