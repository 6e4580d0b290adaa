/// Everything that an entry says besides its file. Most entries of a map share one.
package final class EntryOptions: Sendable {
    let answer: EntryAnswer
    let mimeType: String?
    let charset: String?
    package let status: Int
    let headers: [String: String]
    let ignoreQuery: IgnoreQuery?
    let use: Substitution.Use
    let timeout: Double?
    /// The methods that are answered; `["*"]` for all.
    package let methods: [String]
    package let isEnabled: Bool
    /// In seconds.
    let delay: Double?
    /// Set on the request if it's sent on, or removed from it where `nil`.
    let requestHeaders: [String: String?]
    let when: RequestCondition?
    /// How many requests are answered.
    let times: Int?
    /// The alternatives of an entry that has some, in the order in which they are tried. Each has the entry's key, and a line and
    /// a file of its own.
    let alternatives: [Entry]
    /// The place of an alternative among those of its entry, from 1; `nil` for an entry.
    let place: (number: Int, count: Int)?
    /// Those of ``protocolFieldNames`` that are set.
    let protocolFields: [String]

    init(
        _ fields: EntryFields,
        answer: EntryAnswer? = nil,
        alternatives: [Entry] = [],
        place: (number: Int, count: Int)? = nil
    ) {
        self.answer = answer ?? EntryAnswer(fields)
        self.alternatives = alternatives
        self.place = place
        delay = fields.delay
        requestHeaders = fields.requestHeaders
        when = fields.when
        times = fields.times
        mimeType = fields.mimeType
        charset = fields.charset
        status = fields.status ?? 200
        headers = fields.headers
        ignoreQuery = fields.ignoreQuery?.names?.isEmpty == true ? nil : fields.ignoreQuery
        use = fields.use ?? .always
        timeout = fields.timeout
        methods = fields.methods ?? self.answer.defaultMethods
        isEnabled = fields.isEnabled ?? true
        protocolFields = Self.protocolFields(fields)
    }

    /// The options of a `null` entry.
    static let never = EntryOptions(EntryFields(), answer: .never)

    /// Whether the entry is `null`: its URLs are never substituted.
    package var isNever: Bool {
        guard case .never = answer else { return false }
        return true
    }

    /// Whether a method is among those that are answered; GET implies HEAD.
    func lists(method: String) -> Bool {
        methods.contains(method) || (method == "HEAD" && methods.contains("GET")) || answersAllMethods
    }

    /// The names of all fields that only the protocol can follow.
    static let protocolFieldNames = [
        "delay", "error", "times", "forwardTo", "setRequestHeaders", "when.json", "when.text",
    ]

    private static func protocolFields(_ fields: EntryFields) -> [String] {
        let areSet = [
            fields.delay != nil, fields.error != nil, fields.times != nil, fields.forwardTo != nil,
            !fields.requestHeaders.isEmpty, fields.when?.json != nil, fields.when?.text != nil,
        ]
        return zip(protocolFieldNames, areSet).filter(\.1).map(\.0)
    }

    /// Whether every method is answered.
    var answersAllMethods: Bool { methods.contains("*") }
}
