/// The kind of an entry's answer. It decides which other fields the entry may have.
enum EntryKind: Sendable, Hashable {
    case file
    case inline(InlineBody.Kind)
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
        switch EntryKind(fields) {
        case .inline(let kind):
            if fields.use == .untilUpdated { return untilUpdated }
            if kind != .data, let charset = fields.charset, !isUTF8(charset) {
                return (
                    "charset", "“charset” can't be “\(charset)”, because the body is UTF-8. Remove it, or use a file."
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
