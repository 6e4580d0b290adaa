/// The grammar of names and values in HTTP (RFC 9110 §5).
package enum HTTPSyntax {
    /// A token is, for example, a header's name or a method (RFC 9110 §5.6.2).
    package static func isToken(_ text: String) -> Bool { isToken(text.utf8) }

    @inlinable
    package static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                // These ranges are checked first, since most bytes are digits or letters.
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// No control characters, except tabs. All bytes above ASCII are allowed, too (RFC 9110 §5.5).
    @inlinable
    package static func isFieldValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    /// Whether the text is a MIME type without parameters, such as `text/html` (RFC 9110 §8.3.1).
    package static func isMIMEType(_ text: String) -> Bool {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
        return isToken(text.utf8[..<slash]) && isToken(text.utf8[slash...].dropFirst())
    }

    /// The elements of a comma-separated list, without the white space around them (RFC 9110 §5.6.1). Leaves out empty
    /// elements.
    ///
    /// - Parameter quotes: Whether elements may have quoted strings, in which a comma doesn't separate elements.
    package static func elements(of list: String, quotes: Bool = false) -> [Substring] {
        parts(of: list, quotes: quotes).filter { !$0.isEmpty }
    }

    /// The elements with ASCII letters in lowercase; empty for `nil`.
    package static func lowercasedElements(of list: String?) -> [String] {
        (list.map { elements(of: $0) } ?? []).map { String($0).asciiLowercased }
    }

    private static func parts(of list: String, quotes: Bool = false) -> [Substring] {
        var isQuoted = false
        let parts = list.utf8.split(omittingEmptySubsequences: false) { byte in
            if quotes, byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return parts.map { Substring(withoutBlanks($0)) }
    }

    /// The parameters after a value, such as `charset=utf-8` after `text/html;` (RFC 9110 §5.6.6), without the white space
    /// around names and values. A value keeps its quotation marks. It's `nil` if there's nothing after the name.
    package static func parameters(of value: String) -> [(name: String, value: String?)] {
        value.utf8.split(separator: UInt8(ascii: ";")).dropFirst().map(pair).filter { !$0.name.isEmpty }
    }

    /// The directives of a `Cache-Control` and their values, in lowercase (RFC 9111 §5.2). A directive without `=` has an
    /// empty value.
    package static func directives(of control: String) -> [String: String] {
        let pairs = elements(of: control.asciiLowercased).map { pair($0.utf8) }
        return Dictionary(pairs.map { ($0.name, $0.value ?? "") }.filter { !$0.0.isEmpty }) { $1 }
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String?) {
        let parts = text.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring(withoutBlanks($0))) }
        return (parts[0], parts.dropFirst().first { !$0.isEmpty })
    }

    /// Removes spaces and tabs at both ends (RFC 9110 §5.6.3).
    ///
    /// Foundation's `trimmingCharacters(in:)` takes four times as long, and a map is loaded with all its headers.
    @inlinable
    package static func withoutBlanks<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let rest = bytes.drop { $0.isBlank }
        let end = rest.lastIndex { !$0.isBlank }.map(rest.index(after:)) ?? rest.startIndex
        return bytes[rest.startIndex..<end]
    }

    /// The number of bytes that a `Content-Length` states; `nil` if the value isn't valid. A list that repeats one
    /// number is valid (RFC 9110 §8.6).
    package static func length(_ value: String) -> Int? {
        let numbers = parts(of: value).map { String($0) }
        guard let number = numbers.first, number.isDigits, numbers.allSatisfy({ $0 == number }) else { return nil }
        return Int(number)
    }

    /// A response with 1xx, 204, 205 or 304 has no body (RFC 9110 §6.4.1 and §15.3.6).
    package static func hasBody(status: Int) -> Bool { status >= 200 && ![204, 205, 304].contains(status) }
}

extension UInt8 {
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// A space or a tab, the white space of HTTP (RFC 9110 §5.6.3).
    @inlinable package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    @inlinable package var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension String {
    /// ASCII digits only; `true` for an empty text.
    package var isDigits: Bool { utf8.allSatisfy { $0.isDigit } }

    /// Has leading zeros up to a length of `width`.
    package init(_ number: some BinaryInteger, radix: Int = 10, width: Int) {
        let digits = String(number, radix: radix)
        self = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }

    /// Other letters are unchanged: `lowercased()` would turn some of them into ASCII letters, such as the Kelvin sign
    /// into k.
    package var asciiLowercased: String {
        guard utf8.contains(where: { $0.asciiLowercased != $0 }) else { return self }
        return String(decoding: Array(utf8).map(\.asciiLowercased), as: UTF8.self)
    }

    /// Ignores ASCII case.
    package func isSameHeader(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

/// Headers by name. Names that differ only in case are equal (RFC 9110 §5.1).
extension Dictionary where Key == String, Value == String {
    /// The value of the header with a name in any letter case. Setting it removes all other spellings of the name.
    package subscript(header name: String) -> String? {
        get { self[name] ?? first { $0.key.isSameHeader(as: name) }?.value }
        set {
            for key in keys where key.isSameHeader(as: name) { self[key] = nil }
            self[name] = newValue
        }
    }

    /// In any letter case.
    package func contains(headerIn names: [String]) -> Bool { keys.contains { names.contains(where: $0.isSameHeader) } }
}
