/// Everything that an entry says besides its file. Most entries of a map share one.
package final class EntryOptions: Sendable {
    /// Whether the entry is `null`: its URLs are never substituted.
    package let isNever: Bool
    let mimeType: String?
    let charset: String?
    package let status: Int
    let headers: [String: String]
    let ignoreQuery: IgnoreQuery?
    let use: Substitution.Use
    let timeout: Double?
    package let methods: [String]
    package let isEnabled: Bool

    init(_ fields: EntryFields, isNever: Bool = false) {
        self.isNever = isNever
        mimeType = fields.mimeType
        charset = fields.charset
        status = fields.status ?? 200
        headers = fields.headers
        ignoreQuery = fields.ignoreQuery?.names?.isEmpty == true ? nil : fields.ignoreQuery
        use = fields.use ?? .always
        timeout = fields.timeout
        methods = fields.methods ?? ["GET"]
        isEnabled = fields.isEnabled ?? true
    }

    /// The options of a `null` entry.
    static let never = EntryOptions(EntryFields(), isNever: true)
}
