public import Foundation

extension SubstitutionMap {
    /// An answer in code: the value of a key, with the same fields as in the JSON.
    ///
    /// A string names a file, an array lists alternatives, and `nil` means that the URL is never substituted:
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
    /// If an answer has a mistake, creating a map with it throws an error that lists it as a problem.
    public struct Answer: Sendable {
        /// The form in which the map's loader reads the answer.
        enum Source {
            case never
            case file(String)
            /// The JSON of an object.
            case fields(String)
        }

        /// The fields' names and JSON values; empty for `null`.
        private var fields: [(name: String, json: String)] = []
        /// The file's name. It's the whole answer if no other field is set.
        private var file: String?
        /// Bodies. The JSON refers to them by index.
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

        /// Returns the answer's JSON as a value in a list of alternatives.
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

        /// Returns a copy of the answer with a field set. It replaces an earlier field of that name.
        func setting(_ name: String, _ json: String) -> Answer {
            var answer = self
            if fields.isEmpty {
                answer.problems.append("“\(name)” can't be set on nil, which substitutes nothing. Remove it.")
            }
            answer.fields.removeAll { $0.name == name }
            answer.fields.append((name, json))
            return answer
        }

        /// Returns a copy of the answer with another problem, if there is one.
        func adding(_ problem: String?) -> Answer {
            var answer = self
            answer.problems += problem.map { [$0] } ?? []
            return answer
        }

        /// Substitutes nothing: `null` in the JSON.
        public static let notSubstituted = Answer()

        /// Answers with a file.
        ///
        /// - Parameter name: The file's path in the resources folder. Each `*` is replaced by what a wildcard in the key's path
        ///   matched.
        public static func file(_ name: String) -> Answer {
            var answer = Answer("file", JSONText.string(name))
            answer.file = name
            return answer
        }

        /// Answers with a JSON body that's written as a literal, such as `["id": 7, "tags": ["a", nil]]`.
        ///
        /// Write a variable in it as `.value(name)`.
        public static func json(_ value: JSON) -> Answer { Answer(value) }

        /// Answers with a JSON object whose values are variables. Its members keep the order in which they're written.
        ///
        /// Inside nested literals, write a variable as `.value(name)`.
        @_disfavoredOverload
        public static func json(_ object: KeyValuePairs<String, any Encodable & Sendable>) -> Answer {
            Answer(JSON(object: object))
        }

        /// Answers with a JSON array of variables.
        @_disfavoredOverload
        public static func json(_ array: [any Encodable & Sendable]) -> Answer { Answer(JSON(array: array)) }

        /// Answers with a value encoded as JSON.
        ///
        /// - Parameter value: A value for `JSONEncoder`. If it can't be encoded, the map has a problem.
        public static func json(encoding value: some Encodable) -> Answer { Answer(JSON.value(value)) }

        /// Answers with JSON text, sent byte for byte.
        ///
        /// - Parameter text: One JSON value.
        public static func json(text: String) -> Answer { Answer(JSON(text: text)) }

        /// Answers with text in UTF-8. Its MIME type depends on the URL's extension; the default is `text/plain`.
        public static func text(_ text: String) -> Answer { Answer("text", JSONText.string(text)) }

        /// Answers with data of any MIME type.
        public static func data(_ data: Data, mimeType: String) -> Answer {
            var answer = Answer("data", "0")
            answer.data = [data]
            return answer.mimeType(mimeType)
        }

        /// Answers with an empty body and a status code, 100–599.
        public static func status(_ status: Int) -> Answer { Answer("status", String(status)) }

        /// Fails the request with an error.
        public static func error(_ code: URLError.Code) -> Answer {
            Answer("error", JSONText.string(URLErrorNames.text(code)))
        }

        /// Sends the request to another URL.
        ///
        /// - Parameter url: An absolute URL. Each `*` is replaced by what a wildcard in the key's path matched.
        public static func forward(to url: String) -> Answer { Answer("forwardTo", JSONText.string(url)) }

        /// Sends the request on to the network with other headers.
        ///
        /// - Parameter headers: The headers to set. A `nil` value removes the header.
        public static func requestHeaders(_ headers: [String: String?]) -> Answer {
            Answer("setRequestHeaders", JSONText.headers(headers))
        }
    }
}

extension SubstitutionMap.Answer: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral {
    /// Creates an answer from the name of a file.
    public init(stringLiteral value: String) { self = .file(value) }

    /// Creates an answer from alternatives, tried from first to last.
    public init(arrayLiteral elements: SubstitutionMap.Answer...) { self.init(alternatives: elements) }

    /// Creates an answer that substitutes nothing.
    public init(nilLiteral: ()) { self = .notSubstituted }

    /// Creates an answer from alternatives, tried from first to last.
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
