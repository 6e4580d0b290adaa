public import Foundation

extension SubstitutionMap {
    /// What answers a URL, in code: the value of a key, with the same fields as in the JSON.
    ///
    /// A string is the name of a file, a list has alternatives, and `nil` means that the URL is never substituted:
    ///
    /// ```swift
    /// let answers: [SubstitutionMap.Answer] = [
    ///     "logo.png",
    ///     .json(["id": 7, "tags": ["a", nil]]).status(201).methods("POST"),
    ///     [.status(503).times(2), "feed.json"],
    ///     nil,
    /// ]
    /// ```
    ///
    /// A mistake in an answer is reported as a problem when you make a map with it.
    public struct Answer: Sendable {
        /// What the map's loader reads.
        enum Source {
            case never
            case file(String)
            /// The JSON of an object.
            case fields(String)
        }

        /// Names and JSON values; empty for `null`.
        private var fields: [(name: String, json: String)] = []
        /// A plain file's name.
        private var file: String?
        /// Bodies, which the JSON names by their number.
        private(set) var data: [Data] = []
        private(set) var problems: [String] = []

        private init() {}

        private init(_ name: String, _ json: String) { fields = [(name, json)] }

        private init(_ json: JSON) {
            self.init("json", json.text)
            problems += json.problem.map { [$0] } ?? []
        }

        var source: Source {
            if fields.isEmpty { return .never }
            if let file, fields.count == 1 { return .file(file) }
            return .fields(JSONText.object(fields.map { (key: $0.name, value: $0.json) }))
        }

        /// The value in a list of alternatives.
        private func json(numberingDataFrom first: Int) -> String {
            switch source {
            case .never: return "null"
            case .file(let name): return JSONText.string(name)
            case .fields:
                var numbered = self
                for (index, field) in fields.enumerated() where field.name == "data" {
                    numbered.fields[index].json = String(first)
                }
                guard case .fields(let json) = numbered.source else { return "null" }
                return json
            }
        }

        /// Returns the same answer with a field, which replaces an earlier one of that name.
        func setting(_ name: String, _ json: String) -> Answer {
            var answer = self
            if fields.isEmpty {
                answer.problems.append("“\(name)” can't be set on nil, which substitutes nothing: remove it")
            }
            answer.fields.removeAll { $0.name == name }
            answer.fields.append((name, json))
            return answer
        }

        /// The same answer, with what is wrong with a value.
        func adding(_ problem: String?) -> Answer {
            var answer = self
            answer.problems += problem.map { [$0] } ?? []
            return answer
        }

        /// Nothing is substituted: `null` in the JSON.
        public static let notSubstituted = Answer()

        /// A file.
        ///
        /// - Parameter name: Its path in the resources folder, with `*` for what the wildcards of the key's path matched.
        public static func file(_ name: String) -> Answer {
            var answer = Answer("file", JSONText.string(name))
            answer.file = name
            return answer
        }

        /// A JSON body that is written as a literal, such as `["id": 7, "tags": ["a", nil]]`.
        ///
        /// A variable in it is written `.value(name)`.
        public static func json(_ value: JSON) -> Answer { Answer(value) }

        /// A JSON body: an object whose values are variables, in the order in which they are written.
        ///
        /// Among literals that are nested, write a variable as `.value(name)`.
        @_disfavoredOverload
        public static func json(_ object: KeyValuePairs<String, any Encodable & Sendable>) -> Answer {
            Answer(JSON(object: object))
        }

        /// A JSON body: an array of variables.
        @_disfavoredOverload
        public static func json(_ array: [any Encodable & Sendable]) -> Answer { Answer(JSON(array: array)) }

        /// A JSON body.
        ///
        /// - Parameter value: Encoded by `JSONEncoder`. A value that it can't encode is a problem of the map.
        public static func json(encoding value: some Encodable) -> Answer { Answer(JSON.value(value)) }

        /// A JSON body, sent byte for byte.
        ///
        /// - Parameter text: One JSON value.
        public static func json(text: String) -> Answer { Answer(JSON(text: text)) }

        /// A text in UTF-8. Its type is by the URL's extension, or `text/plain`.
        public static func text(_ text: String) -> Answer { Answer("text", JSONText.string(text)) }

        /// A body of any type.
        public static func data(_ data: Data, mimeType: String) -> Answer {
            var answer = Answer("data", "0")
            answer.data = [data]
            return answer.mimeType(mimeType)
        }

        /// An empty body with a status, 100–599.
        public static func status(_ status: Int) -> Answer { Answer("status", String(status)) }

        /// The request fails.
        public static func error(_ code: URLError.Code) -> Answer {
            Answer("error", JSONText.string(URLErrorNames.name(code) ?? String(code.rawValue)))
        }

        /// The request is sent to another URL, an absolute one with `*` for what the wildcards of the key's path matched.
        public static func forward(to url: String) -> Answer { Answer("forwardTo", JSONText.string(url)) }

        /// The request is sent on with other headers.
        ///
        /// - Parameter headers: Headers that are set, or removed if they are `nil`.
        public static func requestHeaders(_ headers: [String: String?]) -> Answer {
            Answer("setRequestHeaders", JSONText.headers(headers))
        }
    }
}

extension SubstitutionMap.Answer: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral {
    /// The name of a file.
    public init(stringLiteral value: String) { self = .file(value) }

    /// Alternatives, tried from first to last.
    public init(arrayLiteral elements: SubstitutionMap.Answer...) { self.init(alternatives: elements) }

    /// Nothing is substituted.
    public init(nilLiteral: ()) { self = .notSubstituted }

    /// Alternatives, tried from first to last.
    public init(alternatives: [SubstitutionMap.Answer]) {
        self.init()
        var texts: [String] = []
        for alternative in alternatives {
            texts.append(alternative.json(numberingDataFrom: data.count))
            data += alternative.data
            problems += alternative.problems
        }
        fields = [("alternatives", "[\(texts.joined(separator: ", "))]")]
    }
}
