import Foundation

/// The fields of an entry, or of `$defaults`, as written in the map. Fields that aren't set are `nil`.
package struct EntryFields: Sendable {
    package var file: String?
    /// `json` or `text`, or data in code.
    var body: Entry.Body?
    var error: URLError.Code?
    var forwardTo: ForwardTarget?
    package var mimeType: String?
    package var charset: String?
    package var status: Int?
    package var headers: [String: String] = [:]
    var requestHeaders: [String: String?] = [:]
    package var ignoreQuery: Query.Ignored?
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
        guard !requestHeaders.isEmpty, use != .whenOffline, EntryFields.Kind(self) != .network else { return nil }
        return "“setRequestHeaders” applies only to forwarded requests. Add \"use\": \"whenOffline\", or remove it."
    }
}

extension EntryFields {
    /// The place of an object with fields.
    package enum Place: Sendable, Hashable {
        case entry, defaults, alternative
    }

    static let inDefaults = [
        "headers", "mimeType", "charset", "ignoreQuery", "methods", "use", "timeout", "enabled", "delay", "comment",
    ]

    /// Returns why a field isn't allowed in a place, and what to do; `nil` if it's allowed.
    static func refusal(of name: String, in place: Place) -> String? {
        switch place {
        case .entry where name == "times":
            "“times” is only for alternatives. Write a list, such as [{ …, \"times\": 2 }, { … }]."
        case .defaults where !inDefaults.contains(name):
            "“\(name)” can't be a default. Defaults are \(inDefaults.joined(separator: ", ")). Write it in each entry."
        case .alternative where name == "ignoreQuery" || name == "enabled":
            "“\(name)” is for all alternatives together. Write { \"\(name)\": …, \"alternatives\": […] }."
        case .alternative where name == "use" || name == "timeout":
            "“\(name)” isn't allowed in an alternative. Remove it."
        case .alternative where name == "alternatives":
            "“alternatives” isn't allowed in an alternative. Put them all in one list."
        case .entry, .defaults, .alternative: nil
        }
    }

    /// Returns what to do about an unknown field.
    static func advice(on name: String) -> String {
        if let meant = ofOtherTools[name.lowercased()] {
            return "Use \(meant)."
        }
        return NearestName.of(name, in: EntryFields.names).map { "Did you mean “\($0)”?" }
            ?? "The fields are \(EntryFields.names.joined(separator: ", "))."
    }

    private static let ofOtherTools: [String: String] = {
        let words = [
            "“json”, “text” or “file”": ["body", "data", "response"],
            "“status”": ["statuscode", "code"],
            "“methods”, a list": ["method"],
            "“mimeType”": ["contenttype"],
            "“delay”, in seconds": ["latency", "wait"],
            "“forwardTo”": ["to", "redirect", "proxy", "url"],
            "“when”, to match requests, or “setRequestHeaders”, to change them": [
                "match", "if", "request", "requestheaders",
            ],
            "“times”": ["repeat", "count"],
        ]
        return words.reduce(into: [:]) { meant, words in
            for word in words.value { meant[word] = words.key }
        }
    }()
}

extension EntryFields {
    /// The kind of an entry's answer. It decides which other fields the entry may have.
    enum Kind: Sendable, Hashable {
        case file
        case inline(Entry.Body.Kind)
        /// A lone `status`, with an empty body.
        case empty
        case error
        /// `forwardTo`, or a lone `setRequestHeaders`.
        case network
        /// Several alternatives, each with its own kind.
        case alternatives

        /// Creates the kind of an entry; `nil` if the entry doesn't say what answers.
        init?(_ fields: EntryFields) {
            if !fields.alternatives.isEmpty {
                self = .alternatives
            } else if let body = fields.body {
                self = .inline(body.kind)
            } else if fields.file != nil {
                self = .file
            } else if fields.error != nil {
                self = .error
            } else if fields.forwardTo != nil {
                self = .network
            } else if fields.status != nil {
                self = .empty
            } else if !fields.requestHeaders.isEmpty {
                self = .network
            } else {
                return nil
            }
        }

        /// The fields that say what answers. An entry has one of them.
        static let answers = ["file", "json", "text", "error", "forwardTo", "alternatives"]

        /// Returns whether an entry of this kind may have a field. ``conflict(of:)`` checks what depends on the values of fields.
        func allows(_ field: String) -> Bool {
            switch field {
            case "status": ![.error, .network, .alternatives].contains(self)
            case "mimeType", "charset": ![.empty, .error, .network].contains(self)
            case "headers": self != .error
            case "setRequestHeaders": ![.error, .alternatives].contains(self)
            case "use", "timeout": ![.error, .network, .alternatives].contains(self)
            case "when", "times": self != .alternatives
            default: true
            }
        }

        /// Returns why ``allows(_:)`` refuses a field, and what to do, as the end of a sentence that names the field.
        func refusal(of field: String) -> String {
            let remove = "Remove “\(field)”"
            return switch self {
            case .empty: ": an empty body has no type. \(remove), or add “json”, “text” or “file”."
            case .error: ": a request that fails gets no response. \(remove) or “error”."
            case .network where ["use", "timeout"].contains(field): ": the network answers. \(remove)."
            case .network: ": the network answers. \(remove), or answer with “file”, “json” or “text” instead."
            case .alternatives where ["use", "timeout"].contains(field): ": alternatives always answer. \(remove)."
            case .alternatives: ": each alternative has its own. Write “\(field)” there."
            case .file, .inline: ". \(remove)."
            }
        }

        /// Returns a field whose value contradicts another field of the entry, and why.
        static func conflict(of fields: EntryFields) -> (field: String, message: String)? {
            switch EntryFields.Kind(fields) {
            case .inline(let kind):
                if fields.use == .untilUpdated { return untilUpdated }
                if kind != .data, let charset = fields.charset, !isUTF8(charset) {
                    return (
                        "charset",
                        "“charset” can't be “\(charset)”, because the body is UTF-8. Remove it, or use a file."
                    )
                }
                return nil
            case .empty: return fields.use == .untilUpdated ? untilUpdated : nil
            case .file, .error, .network, .alternatives, nil: return nil
            }
        }

        private static let untilUpdated = (
            "use", "“use” can't be “untilUpdated” without a “file”. Write “always” or “whenOffline”."
        )

        private static func isUTF8(_ charset: String) -> Bool { ["utf-8", "utf8"].contains(charset.lowercased()) }

        /// Returns the defaults that apply to an entry of this kind. The others are ignored.
        func applicable(_ defaults: EntryFields) -> EntryFields {
            var kept = defaults
            if !allows("mimeType") { kept.mimeType = nil }
            if !allows("charset") { kept.charset = nil }
            if !allows("headers") { kept.headers = [:] }
            if !allows("use") { (kept.use, kept.timeout) = (nil, nil) }
            if case .inline(let kind) = self {
                if kind != .data, let charset = kept.charset, !Self.isUTF8(charset) { kept.charset = nil }
            }
            if self != .file, kept.use == .untilUpdated { kept.use = nil }
            return kept
        }
    }
}
