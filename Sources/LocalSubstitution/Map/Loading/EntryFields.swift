import Foundation

/// The fields of an entry, or of `$defaults`, as the map has them: what is not set is `nil`.
package struct EntryFields: Sendable {
    package var file: String?
    /// `json` or `text`, or data in code.
    var body: InlineBody?
    var error: URLError.Code?
    var forwardTo: ForwardTarget?
    var mimeType: String?
    var charset: String?
    var status: Int?
    var headers: [String: String] = [:]
    var requestHeaders: [String: String?] = [:]
    var ignoreQuery: IgnoreQuery?
    var use: Substitution.Use?
    var timeout: Double?
    var methods: [String]?
    var delay: Double?
    var when: RequestCondition?
    var times: Int?
    var isEnabled: Bool?
    /// Each with its line.
    var alternatives: [(line: Int, fields: EntryFields)] = []

    static let names = [
        "file", "mimeType", "charset", "status", "headers", "json", "text", "error", "forwardTo", "setRequestHeaders",
        "delay", "methods", "when", "times", "alternatives", "ignoreQuery", "use", "timeout", "enabled", "comment",
    ]

    /// These fields, and where one is not set, that of the defaults. Headers are merged, without regard to the case of names.
    func merged(withDefaults defaults: EntryFields) -> EntryFields {
        var merged = self
        merged.mimeType = mimeType ?? defaults.mimeType
        merged.charset = charset ?? defaults.charset
        merged.ignoreQuery = ignoreQuery ?? defaults.ignoreQuery
        merged.use = use ?? defaults.use
        merged.timeout = timeout ?? defaults.timeout
        merged.methods = methods ?? defaults.methods
        merged.delay = delay ?? defaults.delay
        merged.isEnabled = isEnabled ?? defaults.isEnabled
        for (name, value) in defaults.headers where headers[header: name] == nil { merged.headers[name] = value }
        return merged
    }

    /// What the alternatives of an entry with these fields get by default.
    var forAlternatives: EntryFields {
        var fields = EntryFields()
        fields.methods = methods
        fields.headers = headers
        fields.mimeType = mimeType
        fields.charset = charset
        fields.delay = delay
        return fields
    }

    /// What is wrong with `setRequestHeaders`, defaults included: only a request that is sent on has them set.
    var requestHeadersProblem: String? {
        guard !requestHeaders.isEmpty, use != .whenOffline, EntryKind(self) != .network else { return nil }
        return "“setRequestHeaders” is for requests that are sent on: add \"use\": \"whenOffline\", or remove it"
    }
}
