/// Everything that an entry says except for its file. Most entries of a map share one instance.
package final class EntryOptions: Sendable {
    package let answer: EntryAnswer
    let mimeType: String?
    let charset: String?
    package let status: Int
    package let headers: [String: String]
    package let ignoreQuery: IgnoreQuery?
    package let use: Substitution.Use
    package let timeout: Double?
    /// The methods that are answered; `["*"]` for all.
    package let methods: [String]
    package let isEnabled: Bool
    /// The delay in seconds.
    package let delay: Double?
    /// Whether the delay is that of `$defaults`, or that of the entry whose alternative this is.
    package let inheritsDelay: Bool
    /// Headers to set on a request that is sent on. A `nil` value removes the header.
    let requestHeaders: [String: String?]
    package let when: RequestCondition?
    /// How many requests an alternative answers; `nil` for any number.
    let times: Int?
    /// The entry's alternatives, in the order in which they're tried. Each has the entry's key, and its own line and file.
    package let alternatives: [Entry]
    /// An alternative's position in its entry, from 1, and the number of alternatives; `nil` for an entry.
    let place: (number: Int, count: Int)?
    /// The fields in ``protocolFieldNames`` that are set.
    package let protocolFields: [String]
    /// Whether the entry's value is only a file name.
    let isPlain: Bool

    package init(
        _ fields: EntryFields,
        answer: EntryAnswer? = nil,
        alternatives: [Entry] = [],
        place: (number: Int, count: Int)? = nil,
        isPlain: Bool = false
    ) {
        self.isPlain = isPlain
        self.answer = answer ?? EntryAnswer(fields)
        self.alternatives = alternatives
        self.place = place
        delay = fields.delay
        inheritsDelay = fields.inheritsDelay
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

    /// Returns whether a method is answered. `GET` implies `HEAD`.
    func lists(method: String) -> Bool {
        methods.contains(method) || (method == "HEAD" && methods.contains("GET")) || answersAllMethods
    }

    /// The fields that the URL protocol implements, and a cache alone can't.
    package static let protocolFieldNames = [
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
    package var answersAllMethods: Bool { methods.contains("*") }
}
