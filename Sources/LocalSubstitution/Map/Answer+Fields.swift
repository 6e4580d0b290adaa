/// Modifiers that set an answer's fields. Setting a field again replaces its value.
extension SubstitutionMap.Answer {
    /// When an answer's file or body is used.
    public enum Use: String, Sendable, Hashable {
        /// Always. The default.
        case always
        /// Until the network has a newer copy. Only for files.
        case untilUpdated
        /// When the network fails.
        case whenOffline
    }

    /// Sets the HTTP status code, 100–599.
    public func status(_ status: Int) -> Self { setting("status", String(status)) }

    /// Sets headers of the response.
    public func headers(_ headers: [String: String]) -> Self { setting("headers", JSONText.headers(headers)) }

    /// Sets the MIME type, such as `text/css`, without parameters.
    public func mimeType(_ type: String) -> Self { setting("mimeType", JSONText.string(type)) }

    /// Sets the charset of a file or data. Use an IANA name, such as `utf-8`.
    public func charset(_ charset: String) -> Self { setting("charset", JSONText.string(charset)) }

    /// Sets the HTTP methods that are answered. `GET` implies `HEAD`, and `*` means all methods.
    public func methods(_ methods: String...) -> Self { setting("methods", JSONText.array(methods)) }

    /// Delays the answer by a number of seconds, 0–3600.
    public func delay(_ seconds: Double) -> Self { setting("delay", JSONText.number(seconds)) }

    /// Sets how many requests an alternative answers. After that, it's passed over.
    public func times(_ count: Int) -> Self { setting("times", String(count)) }

    /// Sets when the answer's file or body is used.
    public func use(_ use: Use) -> Self { setting("use", JSONText.string(use.rawValue)) }

    /// Sets how many seconds the network may take for the complete response before an answer with ``Use/whenOffline`` is used.
    public func timeout(_ seconds: Double) -> Self { setting("timeout", JSONText.number(seconds)) }

    /// Ignores all query parameters when URLs are compared with the key.
    public func ignoreQuery() -> Self { setting("ignoreQuery", "true") }

    /// Ignores the query parameters with these names when URLs are compared with the key. A name may end in `*`.
    public func ignoreQuery(_ names: String...) -> Self { setting("ignoreQuery", JSONText.array(names)) }

    /// Sets headers on a request that is sent on to the network. A `nil` value removes the header.
    public func requestHeaders(_ headers: [String: String?]) -> Self {
        setting("setRequestHeaders", JSONText.headers(headers))
    }

    /// Sets conditions that a request must meet.
    ///
    /// ```swift
    /// .file("me.json").methods("POST").when(json: ["operationName": "Me"])
    /// ```
    ///
    /// - Parameters:
    ///   - headers: Header values, with `*` for any text. With `nil`, the request must not have the header.
    ///   - query: The same for query parameters.
    ///   - json: A part that the request's JSON body must have.
    ///   - text: The request's body as text, with `*` for any text.
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

    /// Returns an object with string values, sorted by name. A `nil` value becomes `null`.
    static func headers(_ headers: [String: String?]) -> String {
        object(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value.map { string($0) } ?? "null") })
    }

    /// Returns a number, or `null` if it isn't finite.
    static func number(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }
}
