import Foundation
import HTTPSyntax

/// The conditions that a request must meet for an entry to match it: the map's field `when`.
package final class RequestCondition: Sendable {
    /// A condition on a header or query parameter.
    struct Field: Sendable {
        let name: String
        /// The pattern that the value must match; `nil` if the request must not have the field.
        let value: Glob?
    }

    /// The conditions on headers, sorted by name.
    let headers: [Field]
    /// The conditions on query parameters, sorted by name. Names and values are in normal form; see ``Query``.
    let query: [Field]
    let json: JSONValue?
    let text: Glob?

    init(headers: [Field], query: [Field], json: JSONValue?, text: Glob?) {
        (self.headers, self.query, self.json, self.text) = (headers, query, json, text)
    }

    var digest: String {
        let fields = [headers, query].map { fields in
            JSONText.object(fields.map { ($0.name, $0.value.map { JSONText.string($0.text) } ?? "null") })
        }
        let body = [json?.normal ?? "", text.map { JSONText.string($0.text) } ?? ""]
        return Digest.base64(of: (fields + body).joined(separator: "\n"))
    }

    var needsBody: Bool { json != nil || text != nil }

    /// A clause without a period; `nil` if headers and query meet the condition.
    func failureOfHead(_ facts: RequestFacts, _ url: NormalizedURL) -> String? {
        for field in headers {
            let values = facts.headers[header: field.name].map { [$0] } ?? []
            if let failure = failure(of: field, values, isHeader: true) { return failure }
        }
        guard !query.isEmpty else { return nil }
        let given = Query(url.query ?? "")
        for field in query {
            if let failure = failure(of: field, given.values(of: field.name), isHeader: false) { return failure }
        }
        return nil
    }

    /// A clause without a period; `nil` if the body meets the condition. A request without a body has an empty text,
    /// and no JSON. A body that's unread, too long or hidden meets no condition on the body.
    func failureOfBody(_ facts: RequestFacts) -> String? {
        guard needsBody else { return nil }
        switch facts.body {
        case .none: return failureOfNoBody
        case .data(let data):
            return data.isEmpty ? failureOfNoBody : failure(ofJSON: facts.json) ?? failure(ofText: data)
        case .unread: return "the request's body hasn't been read yet"
        case .tooLong: return "the request's body is longer than \(RequestFacts.Body.limit >> 20) MiB"
        case .hidden: return "Foundation hides an upload task's body on Linux; use a data task with httpBody"
        }
    }

    private var failureOfNoBody: String? { json == nil ? failure(ofText: Data()) : "the request has no body" }

    /// - Parameter values: The values of the header or query parameter in the request.
    private func failure(of field: Field, _ values: [String], isHeader: Bool) -> String? {
        let isMet = field.value.map { values.contains(where: $0.matches) } ?? values.isEmpty
        guard !isMet else { return nil }
        let owner = isHeader ? "the request" : "the query"
        let name = "\(isHeader ? "header" : "parameter") “\(field.name)”"
        guard let wanted = field.value else { return "\(owner) has the \(name), but must not have it" }
        guard !values.isEmpty else { return "\(owner) has no \(name)" }
        if isHeader, HTTPSyntax.credentialHeaders.contains(where: field.name.isSameHeader) {
            return "the \(name) has another value"
        }
        let given = values.map { "“\($0.clipped)”" }.joined(separator: " and ")
        return "\(isHeader ? "the" : "the query's") \(name) is \(given), not “\(wanted.text.clipped)”"
    }

    private func failure(ofJSON body: Result<JSONValue, Complaint>?) -> String? {
        guard let json, let body else { return nil }
        switch body {
        case .success(let value):
            guard let difference = json.difference(from: value) else { return nil }
            let place = difference.path.isEmpty ? "the body" : "the body's “\(difference.path.clipped)”"
            return difference.predicate.map { "\(place) \($0)" } ?? "the body has no “\(difference.path.clipped)”"
        case .failure(let error):
            return switch error.kind {
            case JSONCursor.tooDeep: "the body's JSON is nested more than \(JSONValue.deepest) levels deep"
            case JSONCursor.longExponent: "the body has a number with an exponent of more than 4 digits"
            default: "the body isn't JSON"
            }
        }
    }

    private func failure(ofText body: Data) -> String? {
        guard let text else { return nil }
        guard let body = String(utf8: body) else { return "the body isn't UTF-8" }
        return text.matches(body) ? nil : "the body's text doesn't match “\(text.text.clipped)”"
    }
}

/// Comparing a JSON body with `when.json`.
extension JSONValue {
    /// The first place where a value isn't a part of another value.
    struct Difference {
        /// The names and indices that lead to the place, such as `items[0].id`; empty for the whole value.
        let path: String
        /// The actual and the expected value, such as “is 1, not 2”, to follow the path in a message. `nil` if the
        /// actual value has nothing at the path.
        let predicate: String?
    }

    private var isScalar: Bool {
        switch self {
        case .array, .object: false
        case .null, .bool, .number, .string: true
        }
    }

    /// `nil` if the value is a part of `whole`.
    ///
    /// Objects in `whole` may have more members. Arrays of different lengths differ. Strings are compared scalar by
    /// scalar, and numbers as decimals.
    ///
    /// - Parameter path: The path of this value, at the beginning of the difference's path; empty by default.
    func difference(from whole: JSONValue, at path: String = "") -> Difference? {
        switch (self, whole) {
        case (.object(let part), .object(let whole)):
            for (key, value) in part.members {
                let place = path.isEmpty ? key.text : "\(path).\(key.text)"
                guard let found = whole[key] else { return Difference(path: place, predicate: nil) }
                if let difference = value.difference(from: found, at: place) { return difference }
            }
            return nil
        case (.array(let part), .array(let whole)):
            guard part.count == whole.count else {
                let predicate = "has the length \(whole.count.grouped), not \(part.count.grouped)"
                return Difference(path: path, predicate: predicate)
            }
            for (index, (value, found)) in zip(part, whole).enumerated() {
                if let difference = value.difference(from: found, at: "\(path)[\(index)]") { return difference }
            }
            return nil
        default:
            // Only scalars are compared with `==`, which would write out a whole array or object as JSON.
            if isScalar, whole.isScalar, self == whole { return nil }
            return Difference(path: path, predicate: "is \(whole.description.clipped), not \(description.clipped)")
        }
    }
}
