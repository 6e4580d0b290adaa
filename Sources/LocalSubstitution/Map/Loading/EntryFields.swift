import Foundation

/// The fields of an entry, or of `$defaults`, as written in the map. Fields that aren't set are `nil`.
package struct EntryFields: Sendable {
    package var file: String?
    /// `json` or `text`, or data in code.
    var body: InlineBody?
    var error: URLError.Code?
    var forwardTo: ForwardTarget?
    package var mimeType: String?
    package var charset: String?
    package var status: Int?
    package var headers: [String: String] = [:]
    var requestHeaders: [String: String?] = [:]
    package var ignoreQuery: IgnoreQuery?
    package var use: Substitution.Use?
    var timeout: Double?
    package var methods: [String]?
    var delay: Double?
    /// Whether the delay is a default.
    var inheritsDelay = false
    var when: RequestCondition?
    var times: Int?
    package var isEnabled: Bool?
    /// The fields of each alternative, and its line.
    var alternatives: [(line: Int, fields: EntryFields)] = []

    package init() {}

    static let names = [
        "file", "mimeType", "charset", "status", "headers", "json", "text", "error", "forwardTo", "setRequestHeaders",
        "delay", "methods", "when", "times", "alternatives", "ignoreQuery", "use", "timeout", "enabled", "comment",
    ]

    /// Returns these fields, with defaults for those that aren't set. Headers are merged; the case of their names doesn't matter.
    package func merged(withDefaults defaults: EntryFields) -> EntryFields {
        var merged = self
        merged.mimeType = mimeType ?? defaults.mimeType
        merged.charset = charset ?? defaults.charset
        merged.ignoreQuery = ignoreQuery ?? defaults.ignoreQuery
        merged.use = use ?? defaults.use
        // Nothing else uses it, and a timeout that an entry itself has needlessly gets a warning.
        merged.timeout = timeout ?? (merged.use == .whenOffline ? defaults.timeout : nil)
        merged.methods = methods ?? defaults.methods
        merged.delay = delay ?? defaults.delay
        merged.inheritsDelay = delay == nil && defaults.delay != nil
        merged.isEnabled = isEnabled ?? defaults.isEnabled
        for (name, value) in defaults.headers where headers[header: name] == nil { merged.headers[name] = value }
        return merged
    }

    /// The defaults for the entry's alternatives.
    var forAlternatives: EntryFields {
        var fields = EntryFields()
        fields.methods = methods
        fields.headers = headers
        fields.mimeType = mimeType
        fields.charset = charset
        fields.delay = delay
        return fields
    }

    /// What's wrong with `setRequestHeaders`, if anything: only requests that are sent on get these headers. Ask this of merged
    /// fields, since `use` may be a default.
    var requestHeadersProblem: String? {
        guard !requestHeaders.isEmpty, use != .whenOffline, EntryKind(self) != .network else { return nil }
        return "“setRequestHeaders” applies only to forwarded requests. Add \"use\": \"whenOffline\", or remove it."
    }
}
