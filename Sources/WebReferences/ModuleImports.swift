import LocalSubstitution

/// A scanner that finds the URLs that a module script imports, with `import` or `export … from` (ECMA-262 §16.2.2 and
/// §16.2.3).
///
/// The scanner stops at the first other code, since only a full parser can tell a regular expression from a division.
/// Imports after that code are missed, but bundlers and people write imports first.
struct ModuleImports: SourceText.Scanner {
    let source: SourceText
    var index = 0

    private enum Token {
        case name(String)
        case string(SourceText)
        case punctuator(UInt8)
    }

    init(_ source: SourceText) {
        self.source = source
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        if isAt("#!") { skipLine() }
    }

    /// Returns the next URL that is imported; `nil` at the end of the script, or where other code begins. Skips imports
    /// of modules whose names aren't URLs, such as `react`.
    mutating func next() -> SourceText? {
        while let token = token() {
            switch token {
            case .punctuator(UInt8(ascii: ";")): continue
            case .string: guard skipDirectiveEnd() else { return nil }
            case .name("import"), .name("export"): if let name = module(), Self.isURL(name) { return name }
            case .name, .punctuator: return nil
            }
        }
        return nil
    }

    /// Reads the rest of a declaration, after its `import` or `export`. Returns the string that names a module, such as
    /// `./a.js` or `react`.
    ///
    /// Returns `nil` for a list of exported names without a module, such as `{ a }`. For other code, such as `default`
    /// or a function, returns `nil` and ends the scan.
    private mutating func module() -> SourceText? {
        var isInBraces = false
        var isAfterBraces = false
        var last = ""
        while true {
            let start = index
            switch token() {
            // `import "./a.js"` has neither names nor `from`.
            case .string(let name) where !isInBraces && (last == "from" || last.isEmpty):
                skipAttributes()
                return name
            case .name(let name):
                // Without `from`, the list of names ended at its closing brace. So this name belongs to the code after
                // the list.
                if isAfterBraces, name != "from" {
                    index = start
                    return nil
                }
                last = name
            case .punctuator(UInt8(ascii: "{")) where !isInBraces: isInBraces = true
            case .punctuator(UInt8(ascii: "}")) where isInBraces: (isInBraces, isAfterBraces) = (false, true)
            case .string where isInBraces: last = "*"
            case .punctuator(UInt8(ascii: ",")), .punctuator(UInt8(ascii: "*")): last = "*"
            case .punctuator(UInt8(ascii: ";")) where isAfterBraces: return nil
            case .string, .punctuator, nil:
                index = bytes.count
                return nil
            }
        }
    }

    /// Skips import attributes, such as `with { type: "json" }`, if they follow.
    private mutating func skipAttributes() {
        let start = index
        if case .name("with") = token(), case .punctuator(UInt8(ascii: "{")) = token() {
            while let token = token() {
                if case .punctuator(UInt8(ascii: "}")) = token { return }
            }
        }
        index = start
    }

    /// Skips blanks after a string. Returns whether the string is a directive, such as `"use strict"`. It's a directive
    /// if a semicolon, a line end or the end of the script follows.
    private mutating func skipDirectiveEnd() -> Bool {
        skip { $0 == 0x20 || $0 == 0x09 }
        return byte().map { $0 == UInt8(ascii: ";") || $0.isLineEnd } ?? true
    }

    /// Returns whether the string that names a module is a URL. Browsers look up other names, such as `react`, in an
    /// import map.
    private static func isURL(_ url: SourceText) -> Bool {
        let text = url.string.asciiLowercased
        return ["/", "./", "../", "http:", "https:"].contains { text.hasPrefix($0) }
    }

    // MARK: Tokens

    /// Reads the next token. Returns `nil` at the end of the script, or at a string that can't be read.
    private mutating func token() -> Token? {
        skipSpaceAndComments()
        guard let first = byte() else { return nil }
        if isAtQuote { return string() }
        let name = skip {
            $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$") || $0 >= 0x80
        }
        if !name.isEmpty { return .name(String(decoding: bytes[name], as: UTF8.self)) }
        index += 1
        return .punctuator(first)
    }

    /// Reads a string. Returns `nil` if the string contains an escape, or doesn't end on its line.
    private mutating func string() -> Token? {
        let quote = bytes[index]
        index += 1
        let text = skip { $0 != quote && $0 != UInt8(ascii: "\\") && !$0.isLineEnd }
        guard byte() == quote else { return nil }
        index += 1
        return .string(source.slice(text))
    }

    private mutating func skipSpaceAndComments() {
        while let byte = byte() {
            if byte.isHTMLSpace || byte == 0x0B {
                index += 1
            } else if isAt("//") {
                skipLine()
            } else if skip(over: "/*") {
                skip(past: "*/")
            } else {
                return
            }
        }
    }

    private mutating func skipLine() { skip { $0 != 0x0A && $0 != 0x0D } }
}
