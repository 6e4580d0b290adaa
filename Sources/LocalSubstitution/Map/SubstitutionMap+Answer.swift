public import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension SubstitutionMap {
    /// What an entry returns, made in code. It has the same fields as an entry in JSON.
    ///
    /// A string names a file, and an array lists alternatives:
    ///
    /// ```swift
    /// let answers: [SubstitutionMap.Answer] = [
    ///     "logo.png",
    ///     .json(["id": 7, "tags": ["a", nil]]).status(201).methods("POST"),
    ///     [.status(503).times(2), "feed.json"],
    ///     .notSubstituted,
    /// ]
    /// ```
    ///
    /// If an answer has a mistake, creating a map with it throws an error that lists the mistake.
    public struct Answer: Sendable {
        /// The names and JSON values of the answer's fields; empty if the answer is `null`.
        private var fields: [(name: String, json: String)] = []
        /// `nil` without a file. If no other field is set, the JSON is only this name.
        private var file: String?
        /// The bodies that were passed as data. In the JSON, the field `data` is an index into this list.
        private(set) var data: [Data] = []
        /// The closures. In the JSON, the field `handler` is an index into this list.
        private(set) var handlers: [Handler] = []
        private(set) var problems: [String] = []
        /// What modifiers have added to the fields with several values, such as `methods`: texts in JSON.
        private var elements: [String: [String]] = [:]
        /// What modifiers have added to the fields with names and values, such as `headers` and `when.query`.
        private var members: [String: [(key: String, value: String)]] = [:]

        private init() {}

        private init(_ name: String, _ json: String) { fields = [(name, json)] }

        private init(_ json: JSON) {
            self.init("json", json.text)
            problems += json.problem.map { [$0] } ?? []
        }

        /// Whether the answer is `null`, so that the URL is never substituted.
        var isNever: Bool { fields.isEmpty }

        /// The file's name if no other field is set.
        var onlyFile: String? { fields.count == 1 ? file : nil }

        fileprivate var ignoresQuery: Bool { fields.contains { $0.name == "ignoreQuery" && $0.json == "true" } }

        /// The answer as JSON: the value of an entry or alternative.
        ///
        /// - Parameters:
        ///   - data: The index to write as the field `data`. By default, 0: the first body in ``data``. For an
        ///     alternative, the index of its body in the list of the whole entry.
        ///   - handler: The index to write as the field `handler`. By default, 0: the first closure in ``handlers``.
        ///     For an alternative, the index of its closure in the list of the whole entry.
        func json(numberingDataFrom data: Int = 0, handlersFrom handler: Int = 0) -> String {
            if isNever { return "null" }
            if let onlyFile { return JSONText.string(onlyFile) }
            return JSONText.object(
                fields.map { name, json in
                    (name, name == "data" ? String(data) : name == "handler" ? String(handler) : json)
                }
            )
        }

        /// The new value replaces the field's earlier value, if any.
        package func setting(_ name: String, _ json: String) -> Answer {
            var answer = self
            if fields.isEmpty {
                answer.problems.append(
                    "“\(name)” can't be set on .notSubstituted. Remove it, or replace .notSubstituted with another answer."
                )
            }
            answer.fields = fields.filter { $0.name != name } + [(name, json)]
            return answer
        }

        fileprivate func adding(_ names: [String], to field: String) -> Answer {
            var answer = self
            let added = names.map { JSONText.string($0) }
            let earlier = elements[field, default: []].filter { !added.contains($0) }
            answer.elements[field] = earlier + added
            return answer.setting(field, "[\((earlier + added).joined(separator: ", "))]")
        }

        /// A header replaces an earlier one with its name.
        fileprivate func adding(_ headers: [String: String?], to field: String) -> Answer {
            var answer = self
            let earlier = members[field, default: []].filter { !headers.keys.contains(where: $0.key.isSameHeader) }
            let all = earlier + JSONText.members(headers)
            answer.members[field] = all
            return answer.setting(field, JSONText.object(all))
        }

        /// All conditions must hold, so a condition with the name of an earlier one is a problem of the map.
        fileprivate func addingConditions(
            headers: [String: String?],
            query: [String: String?],
            body: [(key: String, value: String)]
        ) -> Answer {
            var answer = self
            for (field, added) in [
                ("when.headers", JSONText.members(headers)), ("when.query", JSONText.members(query)), ("when", body),
            ] { answer.members[field, default: []] += added }
            let fields = ["headers", "query"].compactMap { name in
                answer.members["when.\(name)"].flatMap { $0.isEmpty ? nil : (name, JSONText.object($0)) }
            }
            return answer.setting("when", JSONText.object(fields + answer.members["when", default: []]))
        }

        /// If the problem is `nil`, the copy is unchanged.
        func adding(_ problem: String?) -> Answer {
            var answer = self
            answer.problems += problem.map { [$0] } ?? []
            return answer
        }

        /// An answer for a URL that's never substituted, even if another key matches it: `null` in the JSON.
        ///
        /// As a handler's answer, it leaves the request to the session, as if no entry matched.
        public static let notSubstituted = Answer()

        /// Returns a file.
        ///
        /// - Parameter name: The file's path in the resources folder. Each `*` is replaced, in order, with the text
        ///   that a wildcard in the key's path or query matched.
        public static func file(_ name: String) -> Answer {
            var answer = Answer("file", JSONText.string(name))
            answer.file = name
            return answer
        }

        /// Returns a JSON body that you write as a literal, such as `["id": 7, "tags": ["a", nil]]`.
        ///
        /// In a literal with values of several types, write each variable as `.value(name)`:
        ///
        /// ```swift
        /// .json(["id": 7, "name": .value(user.name)])
        /// ```
        public static func json(_ value: JSON) -> Answer { Answer(value) }

        /// Returns a value encoded as JSON, such as `user` or `["name": user.name]`. Members are sorted by name.
        ///
        /// - Parameter value: A value for `JSONEncoder`. If encoding fails, creating a map with it throws an error.
        @_disfavoredOverload
        public static func json(_ value: some Encodable) -> Answer { Answer(JSON.value(value)) }

        /// Returns JSON text, sent byte for byte.
        ///
        /// - Parameter text: One JSON value. With other text, creating a map throws an error.
        public static func json(text: String) -> Answer { Answer(JSON(text: text)) }

        /// Returns text in UTF-8. The URL's extension sets the MIME type; the default is `text/plain`.
        public static func text(_ text: String) -> Answer { Answer("text", JSONText.string(text)) }

        /// Returns data, such as an image, with a MIME type.
        public static func data(_ data: Data, mimeType: String) -> Answer { self.data(data).mimeType(mimeType) }

        package static func data(_ data: Data) -> Answer {
            var answer = Answer("data", "0")
            // Byte ranges count from 0, and so must the data's indices.
            answer.data = [data.startIndex == 0 ? data : Data(data)]
            return answer
        }

        /// Returns a stream of pieces, each sent when it's due. Needs an attached session.
        ///
        /// The MIME type is `text/event-stream` by default.
        ///
        /// - Parameter pieces: 1 to 10,000 pieces.
        public static func stream(_ pieces: [Piece]) -> Answer {
            var answer = Answer("stream", "[\(pieces.map(\.json).joined(separator: ", "))]")
            answer.problems = pieces.compactMap(\.problem)
            return answer
        }

        /// Calls a closure for each request, and returns the answer that the closure computes. Needs an attached
        /// session.
        ///
        /// ```swift
        /// "https://api.example.com/items/*": .handler { request in .json(["id": request.captures[0]]) }
        /// ```
        ///
        /// The entry matches all HTTP methods unless you list some with ``methods(_:)``.
        public static func handler(_ handler: @escaping Handler) -> Answer {
            var answer = Answer("handler", "0")
            answer.handlers = [handler]
            return answer
        }

        /// Returns an empty body with a status code, 200–599.
        public static func status(_ status: Int) -> Answer { Answer("status", String(status)) }

        /// Fails the request with an error. Needs an attached session.
        public static func error(_ code: URLError.Code) -> Answer {
            Answer("error", JSONText.string(URLErrors.text(code)))
        }

        /// Forwards the request to another URL. Needs an attached session.
        ///
        /// - Parameter url: An absolute URL. Each `*` is replaced, in order, with the text that a wildcard in the key's
        ///   path or query matched.
        public static func forward(to url: String) -> Answer { Answer("forwardTo", JSONText.string(url)) }

        /// Forwards the request to the network with changed headers. Needs an attached session.
        ///
        /// - Parameter headers: The headers to set. A `nil` value removes the header.
        public static func requestHeaders(_ headers: [String: String?]) -> Answer {
            Answer("setRequestHeaders", "{}").adding(headers, to: "setRequestHeaders")
        }
    }
}

extension SubstitutionMap.Answer: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// Creates an answer from the name of a file.
    public init(stringLiteral value: String) { self = .file(value) }

    /// Creates an answer from alternatives, tried from first to last.
    public init(arrayLiteral elements: SubstitutionMap.Answer...) { self.init(alternatives: elements) }

    /// Creates an answer from alternatives, tried from first to last.
    public init(alternatives: [SubstitutionMap.Answer]) {
        self.init()
        var texts: [String] = []
        for alternative in alternatives {
            texts.append(alternative.json(numberingDataFrom: data.count, handlersFrom: handlers.count))
            data += alternative.data
            handlers += alternative.handlers
            problems += alternative.problems
        }
        fields = [("alternatives", "[\(texts.joined(separator: ", "))]")]
    }
}

/// Modifiers that set an answer's fields. A modifier with a single value, such as ``status(_:)``, replaces the earlier
/// value. A modifier with several values, such as ``headers(_:)``, ``methods(_:)`` or ``when(headers:query:json:text:)``,
/// adds to the earlier values.
extension SubstitutionMap.Answer {
    /// When the session gets an answer's file or body.
    public enum Use: String, Sendable, Hashable {
        /// Always. The default.
        case always
        /// Until the network has another file, which is then used. Only for files.
        case untilUpdated
        /// When the network fails. Needs an attached session.
        case whenOffline

        package static let allCases: [Use] = [.always, .untilUpdated, .whenOffline]
    }

    /// Sets the HTTP status code, 200–599.
    public func status(_ status: Int) -> Self { setting("status", String(status)) }

    /// Sets whether a session follows this redirect. By default, it does.
    ///
    /// With `false`, the client gets the redirect itself. Use this to test code that reads `Location`, such as a sign-in:
    ///
    /// ```swift
    /// .status(302).headers(["Location": "app://signed-in?code=1"]).follow(false)
    /// ```
    ///
    /// `false` needs an attached session. A `SubstitutionServer` always sends redirects to its client. If the answer has no
    /// status 301, 302, 303, 307 or 308, or no header `Location`, creating a map with it throws an error.
    public func follow(_ follow: Bool) -> Self { setting("follow", follow ? "true" : "false") }

    /// Adds headers to the response. A header replaces an earlier one with the same name, in any letter case.
    public func headers(_ headers: [String: String]) -> Self { adding(headers.mapValues { $0 }, to: "headers") }

    /// Sets the MIME type, such as `text/css`, without parameters.
    public func mimeType(_ type: String) -> Self { setting("mimeType", JSONText.string(type)) }

    /// Sets the charset of a file or data. Use an IANA name, such as `utf-8`, or `nil` for a type without a charset.
    public func charset(_ charset: String?) -> Self {
        setting("charset", charset.map { JSONText.string($0) } ?? "null")
    }

    /// Adds HTTP methods that the entry matches. `GET` implies `HEAD`, and `*` means all methods. Methods other than
    /// `GET` and `HEAD` need an attached session. By default, an error, a handler or a forwarded request matches all
    /// methods, and any other answer matches `GET`.
    public func methods(_ methods: String...) -> Self { adding(methods, to: "methods") }

    /// Delays the response by a number of seconds, 0–3600. Needs an attached session.
    public func delay(_ seconds: Double) -> Self { setting("delay", JSONText.number(seconds)) }

    /// Sends the body at an even rate, 1–1,000,000,000 bytes per second. Needs an attached session.
    public func bytesPerSecond(_ rate: Int) -> Self { setting("bytesPerSecond", String(rate)) }

    /// Sends the body line by line: the first line at once, and each other line `seconds` (0–3600) after the previous
    /// one. Needs an attached session.
    public func secondsPerLine(_ seconds: Double) -> Self { setting("secondsPerLine", JSONText.number(seconds)) }

    /// Sends the body event by event: the first event at once, and each other event `seconds` (0–3600) after the
    /// previous one. A blank line ends an event. Needs an attached session.
    public func secondsPerEvent(_ seconds: Double) -> Self { setting("secondsPerEvent", JSONText.number(seconds)) }

    /// Sets how many requests (1–1,000,000,000) an alternative matches before it's skipped. Needs an attached session.
    /// Setting the cache's map starts the count again.
    public func times(_ count: Int) -> Self { setting("times", String(count)) }

    /// Sets when the session gets the answer's file or body; ``Use/always`` by default. ``Use/whenOffline`` needs an
    /// attached session.
    public func use(_ use: Use) -> Self { setting("use", JSONText.string(use.rawValue)) }

    /// Sets how long the network may take, in seconds (more than 0). After that, the answer's file or body is used. Of
    /// an event stream, only the first piece must arrive in that time. Needs an attached session, and
    /// ``Use/whenOffline``.
    public func timeout(_ seconds: Double) -> Self { setting("timeout", JSONText.number(seconds)) }

    /// Ignores all query parameters when a request's URL is compared with the key.
    public func ignoreQuery() -> Self { setting("ignoreQuery", "true") }

    /// Adds names of query parameters to ignore when a request's URL is compared with the key. A name may end in `*`.
    public func ignoreQuery(_ names: String...) -> Self { ignoresQuery ? self : adding(names, to: "ignoreQuery") }

    /// Sets headers on a request that's forwarded to the network. Needs an attached session. A `nil` value removes the
    /// header. A header replaces an earlier one with the same name, in any letter case.
    public func requestHeaders(_ headers: [String: String?]) -> Self { adding(headers, to: "setRequestHeaders") }

    /// Adds conditions. A request must meet all of them.
    ///
    /// ```swift
    /// .file("me.json").methods("POST").when(json: ["operationName": "Me"])
    /// ```
    ///
    /// If a header or a query parameter gets two conditions, or if `json` or `text` is set twice, creating a map throws
    /// an error. `json` and `text` need an attached session.
    ///
    /// - Parameters:
    ///   - headers: The values that headers must have, with `*` for any text. If a value is `nil`, the request must not
    ///     have the header.
    ///   - query: The values that query parameters must have, with `*` for any text. If a value is `nil`, the request
    ///     must not have the parameter.
    ///   - json: JSON that the request's body must contain.
    ///   - text: The request's body as text, with `*` for any text.
    public func when(
        headers: [String: String?] = [:],
        query: [String: String?] = [:],
        json: JSON? = nil,
        text: String? = nil
    ) -> Self {
        let body = [("json", json?.text), ("text", text.map { JSONText.string($0) })].compactMap { name, json in
            json.map { (name, $0) }
        }
        return addingConditions(headers: headers, query: query, body: body).adding(json?.problem)
    }
}

/// Properties that read and change what an answer returns. Use them, for example, to change the server's response that
/// ``SubstitutionMap/Request/response()`` returned.
extension SubstitutionMap.Answer {
    /// Creates the answer with a server's response. Leaves out the headers that may contain a credential, and those that
    /// an entry can't set.
    init(_ response: HTTPURLResponse, _ body: Data) {
        self = .status(response.statusCode)
        // A status without a body, such as 204, allows no `data`.
        if HTTPSyntax.hasBody(status: response.statusCode) { self.body = body }
        var headers = Self.headers(of: response).filter {
            HTTPSyntax.problem(ofHeader: $0.key, value: $0.value) == nil
                && !SecretName.isIn(header: $0.key, value: $0.value)
        }
        let type = response.headers[header: "Content-Type"] ?? ""
        if SecretName.isIn(type) { headers[header: "Content-Type"] = MIMEType.essence(of: type) }
        // With an empty header, no type is sent. Without the header, the URL's extension would set the type.
        if headers[header: "Content-Type"] == nil { headers["Content-Type"] = "" }
        self.headers = headers
    }

    /// Returns a response's headers, each once: on Linux, a name that was sent in several spellings is there several times.
    static func headers(of response: HTTPURLResponse) -> [String: String] {
        response.headers.ordered { $0.key < $1.key }.reduce(into: [:]) { headers, header in
            let same = headers.first { $0.key.isSameHeader(as: header.key) }
            headers[same?.key ?? header.key] = same.map { "\($0.value), \(header.value)" } ?? header.value
        }
    }

    /// The HTTP status code; 200 by default. It has no meaning for an error, a handler, alternatives, or an answer that
    /// forwards the request.
    public var status: Int {
        get { field("status").flatMap { Int($0) } ?? 200 }
        set { self = status(newValue) }
    }

    /// The headers that the answer sets. Their names have the letter case in which they were set or sent. For a server's
    /// response, these include its `Content-Type`, which is empty if the server sent none.
    public var headers: [String: String] {
        get {
            members["headers", default: []].reduce(into: [:]) { headers, member in
                headers[member.key] = Self.text(ofJSON: member.value)
            }
        }
        set {
            members["headers"] = nil
            remove(["headers"])
            if !newValue.isEmpty { self = headers(newValue) }
        }
    }

    /// The body of a server's response, or of an answer made with `.json`, `.text` or `.data`. For other answers, such as a
    /// file, a stream or a handler, this is `nil`.
    ///
    /// If you set another body, the answer keeps its status, its type, and its headers, except those that describe the
    /// former body's bytes, such as `ETag`. If the answer is a file, a stream or a handler, for example, your body is
    /// returned instead. If you set `nil`, the answer has only a status and headers.
    public var body: Data? {
        get {
            field("data").map { _ in data.first ?? Data() } ?? field("json").map { Data(utf8: $0) }
                ?? field("text").flatMap(Self.text(ofJSON:)).map { Data(utf8: $0) }
        }
        set {
            let type = mimeType ?? (field("json") == nil ? field("text").map { _ in "text/plain" } : "application/json")
            var headers = headers
            for name in HTTPSyntax.headersOfBytes { headers[header: name] = nil }
            self.headers = headers
            guard let newValue else {
                self = status(status)
                return remove(EntryFields.Field.answers + ["data", "mimeType", "charset"])
            }
            let new = Self.data(newValue)
            self = setting("data", "0")
            remove(EntryFields.Field.answers)
            data = new.data
            if mimeType == nil, headers[header: "Content-Type"] == nil, let type { mimeType = type }
        }
    }

    /// The MIME type that the answer sets, with ``mimeType(_:)`` or in its header `Content-Type`. If this is `nil`, the type
    /// follows from the body and the URL. With an empty `Content-Type`, this is also `nil`, but no type is sent. If you set
    /// another type, the charset stays.
    public var mimeType: String? {
        get {
            if let header = headers[header: "Content-Type"] {
                return header.isEmpty ? nil : MIMEType.essence(of: header)
            }
            return field("mimeType").flatMap(Self.text(ofJSON:))
        }
        set {
            var headers = headers
            guard let newValue else {
                headers[header: "Content-Type"] = nil
                self.headers = headers
                return remove(["mimeType"])
            }
            guard let type = headers[header: "Content-Type"], !type.isEmpty else {
                headers[header: "Content-Type"] = nil
                self.headers = headers
                return self = mimeType(newValue)
            }
            headers[header: "Content-Type"] = newValue + (type.firstIndex(of: ";").map { String(type[$0...]) } ?? "")
            self.headers = headers
        }
    }

    private func field(_ name: String) -> String? { fields.first { $0.name == name }?.json }

    /// Removes fields with their values. Without any field, the answer would be `null`, so at least one must stay.
    private mutating func remove(_ names: [String]) {
        fields.removeAll { names.contains($0.name) }
        if names.contains("file") { (file, data, handlers) = (nil, [], []) }
    }

    private static func text(ofJSON json: String) -> String? {
        if case .string(let text)? = JSONValue(json) { text.text } else { nil }
    }
}

extension JSONText {
    /// Sorted by name. A `nil` value becomes `null`.
    static func members(_ members: [String: String?]) -> [(key: String, value: String)] {
        members.ordered { $0.key < $1.key }.map { ($0.key, $0.value.map { string($0) } ?? "null") }
    }

    /// `null` if the number isn't finite.
    static func number(_ number: Double) -> String { number.isFinite ? "\(number)" : "null" }
}
