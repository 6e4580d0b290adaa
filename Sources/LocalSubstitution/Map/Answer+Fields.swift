/// The fields of an answer that go with what it answers with. Setting one again replaces it.
extension SubstitutionMap.Answer {
    /// When a file or body answers.
    public enum Use: String, Sendable, Hashable {
        /// Always. The default.
        case always
        /// Until the network has a newer copy. Only for files.
        case untilUpdated
        /// When the network fails.
        case whenOffline
    }

    /// Sets the status, 100–599.
    public func status(_ status: Int) -> Self { setting("status", String(status)) }

    /// Sets headers of the response.
    public func headers(_ headers: [String: String]) -> Self { setting("headers", JSONText.headers(headers)) }

    /// Sets the MIME type, without parameters.
    public func mimeType(_ type: String) -> Self { setting("mimeType", JSONText.string(type)) }

    /// Sets the charset of a file or data, an IANA name.
    public func charset(_ charset: String) -> Self { setting("charset", JSONText.string(charset)) }

    /// Sets the methods that are answered. `GET` implies `HEAD`, and `*` means all methods.
    public func methods(_ methods: String...) -> Self { setting("methods", JSONText.array(methods)) }

    /// Sets a delay in seconds, 0–3600.
    public func delay(_ seconds: Double) -> Self { setting("delay", JSONText.number(seconds)) }

    /// Sets how many requests an alternative answers. It's passed over afterwards.
    public func times(_ count: Int) -> Self { setting("times", String(count)) }

    /// Sets when a file or body answers.
    public func use(_ use: Use) -> Self { setting("use", JSONText.string(use.rawValue)) }

    /// With ``Use/whenOffline``: sets how many seconds the complete response may take.
    public func timeout(_ seconds: Double) -> Self { setting("timeout", JSONText.number(seconds)) }

    /// Leaves all query parameters out of the comparison.
    public func ignoreQuery() -> Self { setting("ignoreQuery", "true") }

    /// Leaves query parameters out of the comparison: names, each perhaps with a `*` at its end.
    public func ignoreQuery(_ names: String...) -> Self { setting("ignoreQuery", JSONText.array(names)) }

    /// Sets headers on the request if it's sent on, or removes those that are `nil`.
    public func requestHeaders(_ headers: [String: String?]) -> Self {
        setting("setRequestHeaders", JSONText.headers(headers))
    }

    /// Sets what a request must be like.
    ///
    /// ```swift
    /// .file("me.json").methods("POST").when(json: ["operationName": "Me"])
    /// ```
    ///
    /// - Parameters:
    ///   - headers: Values with `*` for any text, or `nil` for a header that the request must not have.
    ///   - query: The same for query parameters.
    ///   - json: A part of the request's JSON body.
    ///   - text: The body as text, with `*`.
    public func when(
        headers: [String: String?] = [:],
        query: [String: String?] = [:],
        json: JSON? = nil,
        text: String? = nil
    ) -> Self {
        var parts: [(key: String, value: String)] = []
        if !headers.isEmpty { parts.append(("headers", JSONText.headers(headers))) }
        if !query.isEmpty { parts.append(("query", JSONText.headers(query))) }
        if let json { parts.append(("json", json.text)) }
        if let text { parts.append(("text", JSONText.string(text))) }
        return setting("when", JSONText.object(parts)).adding(json?.problem)
    }
}

extension JSONText {
    fileprivate static func array(_ texts: [String]) -> String {
        "[\(texts.map { string($0) }.joined(separator: ", "))]"
    }

    /// An object of strings, `null` for `nil`, in the order of the names.
    static func headers(_ headers: [String: String?]) -> String {
        object(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.map { string($0) } ?? "null") })
    }

    /// A number, or `null` where JSON has none.
    static func number(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }
}
