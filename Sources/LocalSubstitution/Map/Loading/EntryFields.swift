/// The fields of an entry, or of `$defaults`, as the map has them: what is not set is `nil`.
package struct EntryFields: Sendable {
    package var file: String?
    var mimeType: String?
    var charset: String?
    var status: Int?
    var headers: [String: String] = [:]
    var ignoreQuery: IgnoreQuery?
    var use: Substitution.Use?
    var timeout: Double?
    var methods: [String]?
    var isEnabled: Bool?

    static let names = [
        "file", "mimeType", "charset", "status", "headers", "ignoreQuery", "use", "timeout", "methods", "enabled",
        "comment",
    ]

    /// These fields, and where one is not set, that of the defaults. Headers are merged, without regard to the case of names.
    func merged(withDefaults defaults: EntryFields) -> EntryFields {
        var merged = self
        merged.file = file ?? defaults.file
        merged.mimeType = mimeType ?? defaults.mimeType
        merged.charset = charset ?? defaults.charset
        merged.status = status ?? defaults.status
        merged.ignoreQuery = ignoreQuery ?? defaults.ignoreQuery
        merged.use = use ?? defaults.use
        merged.timeout = timeout ?? defaults.timeout
        merged.methods = methods ?? defaults.methods
        merged.isEnabled = isEnabled ?? defaults.isEnabled
        for (name, value) in defaults.headers where headers[header: name] == nil { merged.headers[name] = value }
        return merged
    }
}
