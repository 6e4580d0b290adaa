/// The syntax of header field names and values (RFC 9110 sections 5.1 and 5.5).
package enum FieldSyntax {
    /// Returns the lowercased elements of a value that is a comma-separated list (RFC 9110 section 5.6.1).
    package static func elements(of list: String?) -> [String] {
        (list ?? "").utf8.split { $0 == UInt8(ascii: ",") || isBlank($0) }.map { element in
            String(decoding: element.map(lowercased), as: UTF8.self)
        }
    }

    /// Returns whether the bytes are a token, such as a field name or a method (RFC 9110 section 5.6.2).
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
    }

    /// Returns whether the bytes can be a value: they have no control characters except tabs.
    static func isValue(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= .space && $0 != 0x7F || $0 == .tab }
    }

    /// Returns whether a byte is the white space that may be around values.
    static func isBlank(_ byte: UInt8) -> Bool { byte == .space || byte == .tab }

    /// Returns whether two names are those of the same field. Case doesn't matter.
    static func isSameName(_ one: String, _ other: String) -> Bool {
        one.utf8.elementsEqual(other.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        // Digits and letters, the most common bytes.
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension UInt8 {
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
}
