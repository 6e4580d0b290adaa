package import Foundation
package import LocalSubstitution

/// The text of a map, in which entries can be changed without touching the others. A generated map is written whole, as
/// ``data``. In a handwritten one, only the changed entries are replaced: see ``data(of:changing:)``.
///
/// An unchanged entry keeps the text of its value, including unknown fields and the spelling of numbers. But a value
/// that's only a string is written anew, since a string can be escaped in several ways.
package struct MapDocument: Sendable {
    /// Each entry's value as JSON text, by key.
    package var values: [String: String] = [:]
    /// What's wrong with the map's `$version`, such as one that this library doesn't understand; `nil` if nothing is. Such
    /// a map can be read, but must not be written.
    package private(set) var versionProblem: SubstitutionMap.Problem?

    package init() {}

    /// Reads a map's file.
    ///
    /// - Throws: An error if the file can't be read, isn't a JSON object, or has a key twice. With a key twice, one of
    ///   the two values would be lost.
    package init(contentsOf file: URL) throws(SubstitutionMapError) {
        try self.init(json: MapFile(file).json, file: file)
    }

    /// Reads a map's text. Throws an error if the text isn't a JSON object, or has a key twice.
    ///
    /// - Parameter file: The map's file, to name in errors; `nil`, the default, if the text isn't from a file.
    package init(json: [UInt8], file: URL? = nil) throws(SubstitutionMapError) {
        let json = json.withoutByteOrderMark
        let members: [JSONScanner.Member]
        do throws(Complaint) {
            members = try JSONScanner(json).members()
        } catch {
            throw SubstitutionMapError(file: file, problems: [SubstitutionMap.Problem(error, in: json)])
        }
        for member in members {
            versionProblem = versionProblem ?? MapVersion.problem(of: member)
            guard values.updateValue(Self.text(of: member, in: json), forKey: member.key) == nil else {
                let problem = SubstitutionMap.Problem(
                    .duplicate,
                    key: member.key,
                    line: member.line,
                    "The key is given twice. Keep one."
                )
                throw SubstitutionMapError(file: file, problems: [problem])
            }
        }
    }

    /// The map's text: one entry per line, sorted by key. Keys that begin with `$`, such as `$defaults`, come first.
    package var data: Data { Data((JSONText.lines(values) + "\n").utf8) }

    /// Returns a handwritten map's text with changed entries. All other text stays the same, including the order, lines
    /// and comments. New keys come last, sorted.
    ///
    /// - Parameters:
    ///   - json: The map's text before the change; empty if there was no map.
    ///   - changes: The new values of entries as JSON text, by key.
    package static func data(of json: [UInt8], changing changes: [String: String]) -> Data {
        let json = json.withoutByteOrderMark
        guard let members = try? JSONScanner(json).members(), let end = members.last?.range.upperBound else {
            return Data((JSONText.lines(changes) + "\n").utf8)
        }
        var new = changes
        var parts = members.compactMap { member in new.removeValue(forKey: member.key).map { (member.range, $0) } }
        let added = new.sorted { $0.key < $1.key }.map { ",\n  \(JSONText.string($0.key)): \($0.value)" }
        parts.append((end..<end, added.joined()))
        return Data(json.replacing(parts))
    }

    package var defaults: EntryFields {
        guard let text = values["$defaults"], text.utf8.first == UInt8(ascii: "{") else { return EntryFields() }
        return Self.reader(of: text, in: .defaults).fields
    }

    /// Returns the fields of an entry's value, without those of `$defaults`. Returns `nil` if the value is `null`, a list
    /// of alternatives, or an object with invalid fields.
    package static func fields(of text: String) -> EntryFields? {
        switch text.utf8.first {
        case UInt8(ascii: "\""):
            return (try? JSONDecoder().decode(String.self, from: Data(text.utf8))).map { EntryFields(file: $0) }
        case UInt8(ascii: "{"):
            let reader = reader(of: text)
            return reader.problems.isEmpty ? reader.fields : nil
        default:
            return nil
        }
    }

    /// Returns the names of the files that an entry may return, including those of its alternatives. Invalid entries
    /// are read as far as possible. Returns an empty array if there's no such key.
    ///
    /// - Parameter withPieces: Whether to include the files of the entry's streams; `true` by default.
    package func files(of key: String, withPieces: Bool = true) -> [String] {
        // The whole map was scanned when it was read, so the value is valid JSON.
        let bytes = Array("[\(values[key] ?? "")]".utf8)
        return Self.files(in: Self.elements(of: 0..<bytes.count, in: bytes), of: bytes, withPieces)
    }

    private static func files(in values: [JSONScanner.Member], of bytes: [UInt8], _ withPieces: Bool) -> [String] {
        values.flatMap { value -> [String] in
            switch value.kind {
            case .string: return value.text.map { [$0] } ?? []
            case .array: return files(in: elements(of: value.range, in: bytes), of: bytes, withPieces)
            case .object:
                let members = (try? JSONScanner(bytes, in: value.range).members()) ?? []
                return members.flatMap { member -> [String] in
                    if ["file", "alternatives"].contains(member.key) {
                        return files(in: [member], of: bytes, withPieces)
                    }
                    guard member.key == "stream", withPieces else { return [] }
                    // In a stream, a string is text, and not a file's name.
                    let pieces = elements(of: member.range, in: bytes).filter { $0.kind == .object }
                    return files(in: pieces, of: bytes, withPieces)
                }
            default: return []
            }
        }
    }

    private static func elements(of range: Range<Int>, in bytes: [UInt8]) -> [JSONScanner.Member] {
        (try? JSONScanner(bytes, in: range).elements()) ?? []
    }

    private static func reader(of text: String, in place: EntryFields.Place = .entry) -> EntryFieldsReader {
        let bytes = Array(text.utf8)
        return EntryFieldsReader(0..<bytes.count, of: bytes, line: 1, in: place)
    }

    private static func text(of member: JSONScanner.Member, in json: [UInt8]) -> String {
        member.text.map(JSONText.string) ?? String(decoding: json[member.range], as: UTF8.self)
    }
}

extension JSONText {
    /// Returns an object with one member on each line, sorted by key. Keys that begin with `$` come first.
    ///
    /// - Parameters:
    ///   - members: The values as JSON text, by key.
    ///   - indent: The white space before the closing brace; none by default. Members are indented by two more spaces.
    package static func lines(_ members: [String: String], indent: String = "") -> String {
        guard !members.isEmpty else { return "{}" }
        let keys = members.keys.sorted()
        let reserved = keys.filter { $0.utf8.first == UInt8(ascii: "$") }
        let others = keys.filter { $0.utf8.first != UInt8(ascii: "$") }
        // “$schema” comes first, since editors look for it there.
        let ordered = reserved.filter { $0 == "$schema" } + reserved.filter { $0 != "$schema" } + others
        let lines = ordered.map { "\(indent)  \(string($0)): \(members[$0, default: ""])" }
        return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    }
}
