import LocalSubstitution

/// A character reference in an attribute's value (WHATWG HTML §13.2.5.72 and on). It's numeric, or named if the character is ASCII.
/// Other names don't occur in URLs.
struct CharacterReference {
    let bytes: [UInt8]
    /// The number of bytes after the ampersand.
    let length: Int

    /// Reads a character reference; `nil` if none begins here.
    ///
    /// - Parameter rest: The bytes after the ampersand.
    init?(_ rest: ArraySlice<UInt8>) {
        if rest.first == UInt8(ascii: "#") {
            self.init(numeric: rest)
        } else {
            self.init(named: rest)
        }
    }

    private init?(named rest: ArraySlice<UInt8>) {
        let name = rest.prefix(Self.longestName).prefix { $0.isLetter }
        let following = rest.dropFirst(name.count).first
        if following == UInt8(ascii: ";"), let character = Self.names[String(decoding: name, as: UTF8.self)] {
            bytes = [character]
            length = name.count + 1
            return
        }
        for (legacy, character) in Self.legacyNames where rest.starts(with: legacy.utf8) {
            let following = rest.dropFirst(legacy.utf8.count).first
            // Without a semicolon, a name that looks like a parameter's name is one.
            guard following.map({ $0 != UInt8(ascii: "=") && !$0.isLetter && !$0.isDigit }) ?? true else { return nil }
            bytes = [character]
            length = legacy.utf8.count
            return
        }
        return nil
    }

    private init?(numeric rest: ArraySlice<UInt8>) {
        var digits = rest.dropFirst()
        let isHexadecimal = digits.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        if isHexadecimal { digits = digits.dropFirst() }
        let end = digits.firstIndex { isHexadecimal ? $0.hexDigitValue == nil : !$0.isDigit } ?? digits.endIndex
        guard end > digits.startIndex else { return nil }
        var number: UInt32 = 0
        for digit in digits[..<end] {
            number = min(number * (isHexadecimal ? 16 : 10) + UInt32(digit.hexDigitValue ?? 0), 0x11_0000)
        }
        let scalar = number == 0 ? nil : Unicode.Scalar(number)
        let hasSemicolon = end < rest.endIndex && rest[end] == UInt8(ascii: ";")
        bytes = Array(String(scalar ?? "\u{FFFD}").utf8)
        length = end - rest.startIndex + (hasSemicolon ? 1 : 0)
    }

    /// Names that don't need a semicolon.
    private static let legacyNames: [(name: String, character: UInt8)] = [
        ("amp", UInt8(ascii: "&")), ("quot", UInt8(ascii: "\"")), ("lt", UInt8(ascii: "<")), ("gt", UInt8(ascii: ">")),
        ("AMP", UInt8(ascii: "&")), ("QUOT", UInt8(ascii: "\"")), ("LT", UInt8(ascii: "<")),
        ("GT", UInt8(ascii: ">")),
    ]

    private static let longestName = 16

    /// All names of ASCII characters (WHATWG HTML §13.5).
    private static let names: [String: UInt8] = [
        "AMP": UInt8(ascii: "&"), "DiacriticalGrave": UInt8(ascii: "`"), "GT": UInt8(ascii: ">"),
        "Hat": UInt8(ascii: "^"), "LT": UInt8(ascii: "<"), "NewLine": 0x0A, "QUOT": UInt8(ascii: "\""), "Tab": 0x09,
        "UnderBar": UInt8(ascii: "_"), "VerticalLine": UInt8(ascii: "|"), "amp": UInt8(ascii: "&"),
        "apos": UInt8(ascii: "'"), "ast": UInt8(ascii: "*"), "bsol": UInt8(ascii: "\\"), "colon": UInt8(ascii: ":"),
        "comma": UInt8(ascii: ","), "commat": UInt8(ascii: "@"), "dollar": UInt8(ascii: "$"),
        "equals": UInt8(ascii: "="), "excl": UInt8(ascii: "!"), "grave": UInt8(ascii: "`"), "gt": UInt8(ascii: ">"),
        "lbrace": UInt8(ascii: "{"), "lbrack": UInt8(ascii: "["), "lcub": UInt8(ascii: "{"),
        "lowbar": UInt8(ascii: "_"), "lpar": UInt8(ascii: "("), "lsqb": UInt8(ascii: "["), "lt": UInt8(ascii: "<"),
        "midast": UInt8(ascii: "*"), "num": UInt8(ascii: "#"), "percnt": UInt8(ascii: "%"),
        "period": UInt8(ascii: "."), "plus": UInt8(ascii: "+"), "quest": UInt8(ascii: "?"),
        "quot": UInt8(ascii: "\""), "rbrace": UInt8(ascii: "}"), "rbrack": UInt8(ascii: "]"),
        "rcub": UInt8(ascii: "}"), "rpar": UInt8(ascii: ")"), "rsqb": UInt8(ascii: "]"), "semi": UInt8(ascii: ";"),
        "sol": UInt8(ascii: "/"), "verbar": UInt8(ascii: "|"), "vert": UInt8(ascii: "|"),
    ]
}
