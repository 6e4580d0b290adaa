import Foundation

extension HTTPRequest {
    /// Parses a request line and the field lines below it, all without their line ends.
    init(head lines: [[UInt8]]) throws(Refusal) {
        let parts = (lines.first ?? []).split(separator: .space, omittingEmptySubsequences: false)
        guard parts.count == 3, FieldSyntax.isToken(parts[0]), !parts[1].isEmpty,
            parts[1].allSatisfy({ $0 > .space }), parts[2].count == 8, parts[2].starts(with: "HTTP/1.".utf8),
            let digit = parts[2].last, let minorVersion = Self.value(ofDigit: digit)
        else {
            throw .malformed
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = Self.text(ofTarget: parts[1])
        self.minorVersion = minorVersion
        guard let targetParts = Self.parts(ofTarget: target) else { throw .malformed }
        (authority, path, query) = targetParts

        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            fields.append(try Self.field(line))
        }
        headers = fields
        // RFC 9112 section 3.2: an HTTP/1.1 request has exactly one Host field.
        let hosts = fields.count { FieldSyntax.isSameName($0.name, "Host") }
        guard hosts == 1 || minorVersion == 0 && hosts == 0 else { throw .malformed }
    }

    private static func value(ofDigit byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }

    /// Returns a target as text. Bytes that aren't ASCII are percent-encoded, since they need not be UTF-8.
    private static func text(ofTarget bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                text += "%\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Splits a target in origin-form (`/a?b`) or absolute-form (`http://host/a?b`). Leaves others (`*`, `host:443`) whole.
    /// Returns `nil` for a query alone.
    private static func parts(ofTarget target: String) -> (authority: String?, path: String, query: String?)? {
        var authority: String?
        var rest = target[...]
        let scheme = target.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if !scheme.isEmpty, target[scheme.endIndex...].hasPrefix("://") {
            let host = target[scheme.endIndex...].dropFirst("://".count).prefix { $0 != "/" && $0 != "?" }
            authority = String(host)
            rest = target[host.endIndex...]
        }
        let path = rest.prefix { $0 != "?" }
        guard authority != nil || !path.isEmpty else { return nil }
        let query = path.endIndex == rest.endIndex ? nil : String(rest[path.endIndex...].dropFirst())
        return (authority, path.isEmpty ? "/" : String(path), query)
    }

    /// Splits `name: value`. White space around the name, as in obsolete folded lines, is malformed (RFC 9112 section 5).
    private static func field(_ line: [UInt8]) throws(Refusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), FieldSyntax.isToken(line[..<colon]) else {
            throw .malformed
        }
        let value = line[(colon + 1)...].drop(while: FieldSyntax.isBlank)
        let end = value.lastIndex { !FieldSyntax.isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        guard FieldSyntax.isValue(value[..<end]) else { throw .malformed }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
    }
}
