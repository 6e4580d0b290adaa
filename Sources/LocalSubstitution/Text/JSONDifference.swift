/// The first place at which a JSON value isn't a part of another one.
struct JSONDifference: Sendable {
    enum Reason: Sendable {
        case missing
        case value(String, wanted: String)
        case count(Int, wanted: Int)
    }

    /// The names and indices that lead to the place, such as `items[0].id`; empty for the whole value.
    let path: String
    let reason: Reason
}

extension JSONValue {
    /// Returns why the value isn't a part of another one; `nil` if it is.
    ///
    /// For objects, only the members of the part count. Arrays must have the same length. Strings are compared scalar by scalar,
    /// and numbers as decimals.
    func difference(from whole: JSONValue, at path: String = "") -> JSONDifference? {
        switch (self, whole) {
        case (.object(let part), .object(let whole)):
            for (key, value) in part.members {
                let place = path.isEmpty ? key.text : "\(path).\(key.text)"
                guard let found = whole[key] else { return JSONDifference(path: place, reason: .missing) }
                if let difference = value.difference(from: found, at: place) { return difference }
            }
            return nil
        case (.array(let part), .array(let whole)):
            guard part.count == whole.count else {
                return JSONDifference(path: path, reason: .count(whole.count, wanted: part.count))
            }
            for (index, (value, found)) in zip(part, whole).enumerated() {
                if let difference = value.difference(from: found, at: "\(path)[\(index)]") { return difference }
            }
            return nil
        case (.null, .null): return nil
        case (.bool(let part), .bool(let whole)) where part == whole: return nil
        case (.number(let part), .number(let whole)) where part == whole: return nil
        case (.string(let part), .string(let whole)) where part == whole: return nil
        default: return JSONDifference(path: path, reason: .value("\(whole)", wanted: "\(self)"))
        }
    }
}
