import Foundation

/// A response as it was sent over the connection.
struct RawResponse: Sendable {
    struct Malformed: Error {
        let text: String
    }

    let status: Int
    let fields: [(name: String, value: String)]
    /// The body, without chunk framing.
    let body: String
    /// Whether a chunked body has its last chunk.
    let isComplete: Bool

    init(_ text: String) throws {
        guard let end = text.range(of: "\r\n\r\n") else { throw Malformed(text: text) }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        guard let status = lines.first.flatMap({ Int($0.dropFirst("HTTP/1.1 ".count).prefix(3)) }) else {
            throw Malformed(text: text)
        }
        self.status = status
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), (parts.dropFirst().first ?? "").trimmingCharacters(in: .whitespaces))
        }
        let rest = String(text[end.upperBound...])
        let isChunked = fields.contains { $0.name.lowercased() == "transfer-encoding" }
        (body, isComplete) = isChunked ? Self.joined(rest) : (rest, true)
    }

    /// Returns all values of a field.
    func all(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }

    subscript(_ name: String) -> String? { all(name).first }

    private static func joined(_ chunks: String) -> (body: String, isComplete: Bool) {
        var body: [UInt8] = []
        var rest = Array(chunks.utf8)[...]
        while let end = rest.firstIndex(of: 0x0D) {
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16) ?? 0
            if size == 0 { return (String(decoding: body, as: UTF8.self), true) }
            body += rest[(end + 2)...].prefix(size)
            rest = rest[(end + 2)...].dropFirst(size + 2)
        }
        return (String(decoding: body, as: UTF8.self), false)
    }
}
