import Foundation
import HTTPSyntax

/// The fields of an entry, an alternative, a piece of a stream, `$defaults` or a handler's answer. Unset fields are
/// `nil` or empty.
package struct EntryFields: Sendable {
    package internal(set) var file: String?
    /// `nil` if the fields have no answer.
    var kind: Kind?
    /// The answer from `json`, `text`, `stream`, `error`, `forwardTo`, `handler` or data in code; otherwise, `nil`.
    var answer: Entry.Answer?
    package var mimeType: String?
    /// The charset's name, or `nil` in it if none is sent: the map's `"charset": null`.
    package var charset: String??
    package var status: Int?
    package var headers: [String: String] = [:]
    /// Whether the entry or, for an alternative, its entry sets headers. Headers of `$defaults` are ignored.
    private(set) var hasOwnHeaders = false
    /// Headers to set on a forwarded request. A `nil` value removes the header.
    var requestHeaders: [(name: String, value: String?)] = []
    package var ignoreQuery: Query.Ignored?
    /// Whether a session follows the redirect; `nil` if it does by default.
    var follow: Bool?
    package var use: Substitution.Use?
    package internal(set) var timeout: Double?
    package var methods: [String]?
    /// In seconds.
    package internal(set) var delay: Double?
    /// Whether the delay isn't the entry's own, but comes from `$defaults` or, for an alternative, from its entry.
    package internal(set) var inheritsDelay = false
    package var rate: Rate?
    package internal(set) var when: RequestCondition?
    /// How many requests an alternative matches; `nil` for any number.
    package internal(set) var times: Int?
    package var isEnabled: Bool?
    var alternatives: [(line: Int, fields: EntryFields)] = []

    /// If the file is `nil`, no field is set.
    package init(file: String? = nil) {
        self.file = file
        kind = file == nil ? nil : .file
    }

    init(answer: Entry.Answer) { self.answer = answer }

    /// Returns a copy in which unset fields have their defaults. Headers are merged by name; the letter case of names
    /// doesn't matter. Defaults that this kind of answer doesn't allow are ignored.
    ///
    /// - Parameters:
    ///   - defaults: The map's defaults or, for an alternative, the fields of its entry.
    ///   - place: Where the fields are written. Defaults that aren't allowed there are ignored.
    package func merged(withDefaults defaults: EntryFields, in place: Place = .entry) -> EntryFields {
        var merged = self
        merged.hasOwnHeaders = !headers.isEmpty || (place == .alternative && defaults.hasOwnHeaders)
        for field in Field.inherited where field.places.contains(place) && kind.map(field.isInherited) != false {
            field.inherit?(&merged, defaults)
        }
        if charset == nil, kind == .inline || kind == .stream, !Kind.isUTF8(merged.charset) { merged.charset = nil }
        if let kind, kind != .file, use == nil, merged.use == .untilUpdated { merged.use = nil }
        return merged
    }

    /// A field that contradicts what the entry has or, like `use` or a header, inherits, and the message about it; `nil`
    /// if there's none. Call ``merged(withDefaults:in:)`` first.
    var inheritedConflict: (field: String, message: String)? {
        if !requestHeaders.isEmpty, use != .whenOffline, kind != .network {
            let advice = "Remove it, or add \"use\": \"whenOffline\"."
            let problem = "“setRequestHeaders” has no effect, since the request isn't forwarded."
            return ("setRequestHeaders", "\(problem) \(advice)")
        }
        return follow != nil && headers[header: "Location"] == nil ? Kind.followConflict : nil
    }

    /// The fields that need an attached session, since a cache can't implement them: the name of each, and a
    /// function that returns whether it's set.
    static let ofProtocol: KeyValuePairs<String, @Sendable (EntryFields) -> Bool> = [
        "handler": { $0.kind == .handler },
        "delay": { $0.delay != nil },
        "error": { $0.kind == .error },
        "times": { $0.times != nil },
        "stream": { $0.kind == .stream },
        "bytesPerSecond": { $0.rate?.isEven == true },
        "secondsPerLine": { if case .secondsPerLine? = $0.rate { true } else { false } },
        "secondsPerEvent": { if case .secondsPerEvent? = $0.rate { true } else { false } },
        "forwardTo": { if case .network(_?)? = $0.answer { true } else { false } },
        "setRequestHeaders": { !$0.requestHeaders.isEmpty },
        "follow": { $0.follow == false },
        "when.json": { $0.when?.json != nil },
        "when.text": { $0.when?.text != nil },
    ]
}

extension EntryFields {
    /// Where a field is written.
    package enum Place: Sendable {
        case entry, defaults, alternative
        /// In a handler's answer.
        case handled
        /// In a piece of a stream.
        case piece
    }

    /// A field of an entry: its name, where it's allowed, and how it's read and inherited.
    final class Field: Sendable {
        typealias Read = @Sendable (EntryFieldsReader, JSONScanner.Member) -> Void
        typealias Inherit = @Sendable (inout EntryFields, EntryFields) -> Void

        let name: String
        /// The kind of answer that the field sets, such as `file`; `nil` for a field that sets no answer.
        let answer: Kind?
        let places: [Place]
        /// The kinds of answers that don't allow the field.
        let refusing: [Kind]
        let read: Read
        /// A function that sets the field to its default if it's unset. Its parameters are the entry's fields and the
        /// defaults. `nil` for a field that can't have a default.
        let inherit: Inherit?

        @inline(never)  // Otherwise, the list of fields would contain a copy for each.
        private init(
            _ name: String,
            answer: Kind? = nil,
            in places: [Place] = [.entry, .alternative, .handled],
            refusing: [Kind] = [],
            inherit: Inherit? = nil,
            read: @escaping Read
        ) {
            self.name = name
            self.answer = answer
            self.places = places
            self.refusing = refusing
            self.read = read
            self.inherit = inherit
        }

        private static let everywhere: [Place] = [.entry, .defaults, .alternative, .handled]
        private static let withPieces: [Place] = [.entry, .alternative, .handled, .piece]
        private static let perRequest: [Place] = [.entry, .defaults, .alternative]
        /// The places of a field that applies to an entry and all its alternatives. An alternative can't set it.
        private static let whole: [Place] = [.entry, .defaults]
        /// The kinds of answers that never wait for the network to fail, so that `use` and `timeout` aren't allowed.
        private static let alwaysAnswering: [Kind] = [.stream, .error, .network, .handler, .alternatives]

        private static func fill<Value>(_ field: inout Value?, _ inherited: Value?) { field = field ?? inherited }

        /// The fields of entries, in the order in which messages list them.
        static let all: [Field] = [
            Field("file", answer: .file, in: withPieces) {
                $0.fields.file = $0.string($1, "a string with the name of a file")
            },
            Field("mimeType", in: everywhere, refusing: withoutBody, inherit: { fill(&$0.mimeType, $1.mimeType) }) {
                $0.fields.mimeType = $0.string($1, "a string, such as “image/png”") {
                    let advice = "Use type/subtype, such as “image/png”. A charset goes into the field “charset”."
                    return HTTPSyntax.isMIMEType($0) ? nil : "“\($0)” isn't a MIME type. \(advice)"
                }
            },
            Field("charset", in: everywhere, refusing: withoutBody, inherit: { fill(&$0.charset, $1.charset) }) {
                if $1.kind == .null { return $0.fields.charset = .some(nil) }
                let name = $0.string($1, "a string, such as “utf-8”, or null for none") {
                    HTTPSyntax.isToken($0) ? nil : "“\($0)” isn't a charset. Use an IANA name, such as “utf-8”."
                }
                if let name { $0.fields.charset = name }
            },
            Field("status", refusing: [.error, .network, .handler, .alternatives]) {
                $0.fields.status = $0.integer($1, "a number from 200 to 599, such as 404") {
                    200...599 ~= $0 ? nil : "“status” can't be \($0). Use a number from 200 to 599."
                }
            },
            Field("headers", in: everywhere, refusing: [.error, .handler], inherit: addHeaders) { $0.readHeaders($1) },
            Field("follow", refusing: [.error, .network, .handler, .alternatives]) {
                $0.fields.follow = $0.bool($1, "true or false")
            },
            Field("json", answer: .inline, in: withPieces) { $0.readJSON($1) },
            Field("text", answer: .inline, in: withPieces) {
                guard let text = $0.string($1, "a string") else { return }
                $0.fields.answer = .inline(Entry.Body(Data(utf8: text), .text))
            },
            Field("stream", answer: .stream) { $0.readStream($1) },
            Field("error", answer: .error, in: withPieces) { $0.readError($1) },
            Field("forwardTo", answer: .network) { $0.readForwardTo($1) },
            Field("handler", answer: .handler, in: [.entry, .alternative]) { $0.readHandler($1) },
            Field("setRequestHeaders", refusing: [.stream, .error, .handler, .alternatives]) {
                $0.readRequestHeaders($1)
            },
            Field("delay", in: everywhere + [.piece], inherit: inheritDelay) { $0.fields.delay = $0.seconds($1) },
            Field("bytesPerSecond", in: everywhere, refusing: withoutWholeBody, inherit: { fill(&$0.rate, $1.rate) }) {
                let rate = $0.integer($1, "a whole number from 1 to 1,000,000,000", in: 1...1_000_000_000)
                $0.set(rate.map(Rate.bytesPerSecond), $1)
            },
            Field("secondsPerLine", refusing: withoutWholeBody + [.alternatives]) {
                $0.set($0.seconds($1).map(Rate.secondsPerLine), $1)
            },
            Field("secondsPerEvent", refusing: withoutWholeBody + [.alternatives]) {
                $0.set($0.seconds($1).map(Rate.secondsPerEvent), $1)
            },
            Field("methods", in: perRequest, inherit: { fill(&$0.methods, $1.methods) }) { $0.readMethods($1) },
            Field("when", in: [.entry, .alternative], refusing: [.alternatives]) { $0.readWhen($1) },
            Field("times", in: [.alternative], refusing: [.alternatives]) {
                $0.fields.times = $0.integer($1, "a whole number from 1 to 1,000,000,000", in: 1...1_000_000_000)
            },
            Field("alternatives", answer: .alternatives, in: [.entry]) { $0.readAlternatives($1) },
            Field("ignoreQuery", in: whole, inherit: { fill(&$0.ignoreQuery, $1.ignoreQuery) }) {
                $0.readIgnoreQuery($1)
            },
            Field("use", in: whole, refusing: alwaysAnswering, inherit: { fill(&$0.use, $1.use) }) { $0.readUse($1) },
            Field("timeout", in: whole, refusing: alwaysAnswering, inherit: inheritTimeout) {
                $0.fields.timeout = $0.number($1, "a number of seconds") {
                    $0 > 0 ? nil : "“timeout” must be more than 0 seconds."
                }
            },
            Field("enabled", in: whole, inherit: { fill(&$0.isEnabled, $1.isEnabled) }) {
                $0.fields.isEnabled = $0.bool($1, "true or false")
            },
            Field("comment", in: everywhere) { _ = $0.string($1, "a string") },
        ]

        private static let withoutBody: [Kind] = [.empty, .error, .network, .handler]
        private static let withoutWholeBody: [Kind] = [.stream] + withoutBody

        private static let addHeaders: Inherit = { fields, defaults in
            let set = fields.headers
            for (name, value) in defaults.headers where set[header: name] == nil { fields.headers[name] = value }
        }

        private static let inheritDelay: Inherit = {
            $0.inheritsDelay = $0.delay == nil && $1.delay != nil
            $0.delay = $0.delay ?? $1.delay
        }

        private static let inheritTimeout: Inherit = {
            // Only `whenOffline` uses a timeout. With another `use`, a timeout gets a warning, so the entry doesn't
            // inherit it.
            $0.timeout = $0.timeout ?? ($0.use == .whenOffline ? $1.timeout : nil)
        }

        /// The fields of a stream's piece. Only a piece has `base64`.
        private static let ofPieces =
            all.filter { $0.places.contains(.piece) }
            + [Field("base64", answer: .data, in: [.piece]) { $0.readBase64($1) }]

        /// Returns the field with a name; `nil` if there's none. Fields of entries are known in all places but a piece.
        static func named(_ name: String, in place: Place) -> Field? {
            (place == .piece ? ofPieces : all).first { $0.name == name }
        }

        static let answers = all.filter { $0.answer != nil }.map(\.name)
        fileprivate static let inherited = all.filter { $0.inherit != nil }

        /// Returns whether an entry with an answer of this kind may have the field. ``Kind/conflict(of:)`` checks the
        /// rules that depend on values.
        func allows(_ kind: Kind) -> Bool { !refusing.contains(kind) }

        /// Returns whether an entry with an answer of this kind inherits the field from the defaults. It inherits each
        /// field that it may have. An entry with a handler also inherits `mimeType`, `charset`, `headers` and
        /// `bytesPerSecond`, because they apply to the handler's answers.
        fileprivate func isInherited(_ kind: Kind) -> Bool {
            allows(kind) || (kind == .handler && ["mimeType", "charset", "headers", "bytesPerSecond"].contains(name))
        }

        /// Returns why the field isn't allowed in a place, and what to do instead; `nil` if the field is allowed, and
        /// in a piece.
        ///
        /// - Parameter isInCode: Whether the entry was made in code, so that advice on it is Swift instead of JSON.
        func refusal(in place: Place, isInCode: Bool) -> String? {
            guard !places.contains(place) else { return nil }
            switch (place, name) {
            case (.handled, "alternatives"):
                return "A handler's answer can't be a list. Return one answer."
            case (.handled, _):
                return "“\(name)” isn't allowed in a handler's answer. Remove it from the answer."
            case (.entry, _):
                let list = isInCode ? "[.status(503).times(2), .json(…)]" : "[{ …, \"times\": 2 }, { … }]"
                return "“\(name)” is only for alternatives. Write the entry as \(list)."
            case (.defaults, _):
                let allowed = Self.all.filter { $0.places.contains(.defaults) }.map(\.name).joined(separator: ", ")
                return
                    "“\(name)” can't be a default, but these can: \(allowed). "
                    + "Write “\(name)” in each entry or alternative."
            case (.alternative, "alternatives"):
                return "“alternatives” isn't allowed in an alternative. Put all alternatives in one list."
            case (.alternative, "use"), (.alternative, "timeout"):
                return "“\(name)” isn't allowed in an alternative. Remove it."
            case (.alternative, _):
                return "“\(name)” is for all alternatives together. Write { \"\(name)\": …, \"alternatives\": […] }."
            case (.piece, _):
                return nil  // In a piece, other fields are unknown.
            }
        }

        /// Returns advice on an unknown field: the field that was probably meant or, if none is similar, all fields.
        static func advice(on name: String, in place: Place) -> String {
            if place == .piece {
                let other = "Use “text”, “base64”, “json”, “file”, “error” or “delay”."
                return NearestName.advice(on: name, in: ofPieces.map(\.name), or: other)
            }
            if let meant = ofOtherTools.first(where: { $0.value.contains(name.lowercased()) })?.key {
                return "Use \(meant)."
            }
            let other = "Use one of the fields \(names.joined(separator: ", "))."
            return NearestName.advice(on: name, in: names, or: other)
        }

        private static let ofOtherTools: KeyValuePairs = [
            "“json”, “text” or “file”": ["body", "data", "response"],
            "“stream”, a list": ["chunks", "pieces", "events", "sse"],
            "“bytesPerSecond”": ["throttle", "bandwidth", "rate", "speed"],
            "“handler”": ["callback", "function", "closure"],
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
    }

    static let names = Field.all.map(\.name)
}

extension EntryFields {
    /// The kind of an entry's answer. It decides which other fields the entry may have.
    enum Kind: Sendable {
        case file
        /// `json` or `text`. The body is UTF-8.
        case inline
        /// A body that was passed as data in code.
        case data
        case stream
        /// Only a `status`. The body is empty.
        case empty
        case error
        /// `forwardTo`, or only `setRequestHeaders`.
        case network
        case handler
        /// Several alternatives, each with its own kind.
        case alternatives

        /// Returns the end of a message about a field that ``Field/allows(_:)`` refuses: the reason and the advice.
        func refusal(of field: String) -> String {
            let remove = "Remove “\(field)”"
            return switch self {
            case .empty where field.isRate: ": an empty body has no rate. \(remove), or add “json”, “text” or “file”."
            case .stream where field.isRate: ": each piece of a stream has its own “delay”. \(remove)."
            case .stream: ": a stream never uses the network. \(remove)."
            case .handler: ": the handler makes the whole response. \(remove)."
            case .empty: ": an empty body has no type. \(remove), or add “json”, “text” or “file”."
            case .error: ": a request that fails gets no response. \(remove) or “error”."
            case .network where ["use", "timeout"].contains(field): ": the response comes from the network. \(remove)."
            case .network: ": the response comes from the network. \(remove), or use “file”, “json” or “text” instead."
            case .alternatives where field == "use": ": alternatives are always used. \(remove)."
            case .alternatives where field == "timeout": ": alternatives never wait for the network to fail. \(remove)."
            case .alternatives: ": each alternative has its own. Write “\(field)” in an alternative."
            case .file, .inline, .data: ". \(remove)."
            }
        }

        /// Returns a field whose value contradicts another field of the entry, and the message about it; `nil` if
        /// there's none.
        static func conflict(of fields: EntryFields) -> (field: String, message: String)? {
            if fields.follow != nil, !Redirect.statuses.contains(fields.status ?? 200) { return followConflict }
            switch fields.kind {
            case .inline, .data, .empty:
                if fields.use == .untilUpdated {
                    return ("use", "“use” can't be “untilUpdated” without a “file”. Write “always” or “whenOffline”.")
                }
                return fields.kind == .inline ? otherCharset(fields, "Remove “charset”, or use a file.") : nil
            case .stream:
                guard let status = fields.status, !HTTPSyntax.hasBody(status: status) else {
                    return otherCharset(fields, "Remove “charset”.")
                }
                return (
                    "status",
                    "“stream” can't go with status \(status), which allows no body. Use another status, such as 200."
                )
            case .file, .error, .network, .handler, .alternatives, nil: return nil
            }
        }

        /// The field `follow` and the message about it if the entry isn't a redirect.
        fileprivate static var followConflict: (field: String, message: String) {
            let statuses = "301, 302, 303, 307 or 308"
            return (
                "follow",
                "“follow” is only for redirects. Add the header “Location” and the status \(statuses), or remove “follow”."
            )
        }

        private static func otherCharset(_ fields: EntryFields, _ advice: String) -> (field: String, message: String)? {
            guard let charset = fields.charset ?? nil, !isUTF8(charset) else { return nil }
            return ("charset", "“charset” can't be “\(charset)”, because the body is UTF-8. \(advice)")
        }

        /// Returns whether a charset is UTF-8, or isn't set.
        fileprivate static func isUTF8(_ charset: String??) -> Bool {
            (charset ?? nil).map { ["utf-8", "utf8"].contains($0.lowercased()) } ?? true
        }
    }
}

extension String {
    fileprivate var isRate: Bool { ["bytesPerSecond", "secondsPerLine", "secondsPerEvent"].contains(self) }
}
