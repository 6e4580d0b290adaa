import Foundation
import HTTPSyntax
package import LocalSubstitution

/// The map's entry for a recorded response. If the entry needs no field but the file, its value is only the file's
/// name.
package struct WrittenEntry: Sendable {
    /// The fields of an entry or of an alternative, and their values as JSON.
    package typealias Members = [(key: String, value: String)]

    package let entry: Entry
    /// The entry's value in the map, as JSON.
    package let text: String
    /// The names of the entry's fields, and their values as JSON.
    package let members: Members

    /// Creates the entry that returns a response for a URL. An entry for `GET` also matches `HEAD`.
    ///
    /// - Parameters:
    ///   - file: The name of the file with the body; `nil` if the body is empty.
    ///   - defaults: The fields of the map's `$defaults`. The entry overrides the ones that would change its answer.
    package init(_ response: RecordedResponse, at url: NormalizedURL, file: String?, defaults: EntryFields) {
        let type = response.type
        var fields = EntryFields(file: file)
        fields.headers = response.headersWithoutType
        // A status is written unless the entry has a file and the status is 200. The next four fields are written only
        // if their default values, perhaps from `$defaults`, don't fit.
        if file == nil || response.status != 200 { fields.status = response.status }
        if let use = defaults.use, use != .always { fields.use = .always }
        if [response.method] != defaults.methods ?? ["GET"] { fields.methods = [response.method] }
        if defaults.ignoreQuery != nil { fields.ignoreQuery = Query.Ignored(names: []) }
        if defaults.isEnabled == false { fields.isEnabled = true }
        // Clients expect an event stream to arrive in pieces.
        if file != nil, type?.essence == MIMEType.eventStream { fields.rate = .secondsPerEvent(0) }

        if HTTPSyntax.hasBody(status: response.status) {
            if let type {
                fields.set(type, ofBody: response.body, at: url, defaults: defaults)
            } else {
                // The empty header means that no type is sent, so that the client guesses it, as it did when the
                // response was recorded. Without the header, even an empty body would get a type: an unknown one makes
                // a browser save it instead of showing it.
                fields.headers["Content-Type"] = ""
            }
        }
        self.init(fields, text: Self.text(Self.members(fields)), url: url, defaults: defaults)
    }

    /// Creates a `WrittenEntry` for an entry that is already in the map.
    ///
    /// - Parameters:
    ///   - fields: The entry's own fields, without those of `$defaults`.
    ///   - text: The entry's value in the map, as JSON.
    package init(_ fields: EntryFields, text: String, url: NormalizedURL, defaults: EntryFields) {
        entry = Entry(url.canonical, fields, defaults: defaults)
        self.text = text
        members = Self.members(fields)
    }

    /// Returns whether an entry has the same fields, apart from headers about the client: how many requests it may still
    /// make, and which page may read the response.
    package func hasSameFields(as other: WrittenEntry) -> Bool { comparedText == other.comparedText }

    private var comparedText: String {
        var fields = entry.options.fields
        fields.headers = fields.headers.filter { name, _ in
            let name = name.asciiLowercased
            return !RecordingRules.Headers.isRate(name)
                && !["access-control-allow-origin", "access-control-allow-credentials"].contains(name)
        }
        return Self.text(Self.members(fields))
    }

    package func substitution(for url: NormalizedURL) -> Substitution {
        Substitution(entry, fileName: entry.file?.text, folder: nil, url: url)
    }

    /// The names of the fields that a recorder writes. An entry with any other field wasn't made by a recorder.
    package static let fieldNames = Set(values(EntryFields()).map(\.key))

    /// Returns an entry's or alternative's value as JSON: an object with the fields or, if the only field is `file`,
    /// the file's name.
    package static func text(_ members: Members) -> String {
        if let file = members.first, members.count == 1, file.key == "file" { return file.value }
        return JSONText.object(members)
    }

    private static func members(_ fields: EntryFields) -> Members {
        values(fields).compactMap { key, value in value.map { (key, $0) } }
    }

    /// Returns all fields that a recorder can write, with their values as JSON; `nil` for a field that isn't set.
    private static func values(_ fields: EntryFields) -> KeyValuePairs<String, String?> {
        let headers = fields.headers.sorted { $0.key < $1.key }.map { ($0.key, JSONText.string($0.value)) }
        return [
            "file": fields.file.map(JSONText.string),
            "mimeType": fields.mimeType.map(JSONText.string),
            "charset": fields.charset.map { $0.map(JSONText.string) ?? "null" },
            "status": fields.status.map { String($0) },
            "secondsPerEvent": fields.rate == .secondsPerEvent(0) ? "0" : nil,
            "ignoreQuery": fields.ignoreQuery == nil ? nil : "false",
            "use": fields.use.map { JSONText.string($0.rawValue) },
            "methods": fields.methods.map(JSONText.array),
            "enabled": fields.isEnabled == nil ? nil : "true",
            "headers": headers.isEmpty ? nil : JSONText.object(headers),
        ]
    }
}

extension Entry {
    /// Creates the entry that a map with these `$defaults` has for a key and fields. The entry's line is 0.
    init(_ key: String, _ fields: EntryFields, defaults: EntryFields) {
        let options = Options(fields.merged(withDefaults: defaults))
        self.init(key: key, line: 0, file: fields.file.map { FileName(text: $0) }, options: options)
    }
}
