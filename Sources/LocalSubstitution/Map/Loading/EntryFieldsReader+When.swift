import Foundation

/// Reads `when`.
extension EntryFieldsReader {
    mutating func readWhen(_ member: JSONScanner.Member) {
        guard case .object(let range) = member.value else {
            if case .string(let text) = member.value, text.lowercased().contains("offline") {
                return note(member, .wrongType, "“when” can't be “\(text)”. Write \"use\": \"whenOffline\".")
            }
            return note(member, .wrongType, "“when” must be an object with “headers”, “query”, “json” or “text”.")
        }
        let conditions = (try? JSONScanner(bytes, in: range, line: member.line).members()) ?? []
        guard !conditions.isEmpty else {
            return note(
                member,
                .invalidValue,
                "“when” is empty. Remove it, or add “headers”, “query”, “json” or “text”."
            )
        }
        var condition = RequestCondition()
        var seen: Set<String> = []
        for part in conditions {
            guard seen.insert(part.key).inserted else {
                note(part, .duplicate, "“when” has “\(part.key)” twice. Keep one.")
                continue
            }
            read(part, into: &condition)
        }
        fields.when = condition
    }

    private mutating func read(_ part: JSONScanner.Member, into condition: inout RequestCondition) {
        switch part.key {
        case "headers":
            condition.headers = conditions(headers(of: part), of: part, name: { $0 }, value: { Glob(Array($0.utf8)) })
        case "query":
            condition.query = conditions(
                members(of: part),
                of: part,
                name: QueryFields.normalizedName,
                value: QueryFields.normalizedValue
            )
        case "json":
            guard !isTooDeep(part) else { return }
            condition.json = bytes.withUnsafeBufferPointer {
                try? JSONValue(UnsafeBufferPointer(rebasing: $0[part.range]))
            }
        case "text":
            guard case .string(let text) = part.value else {
                return note(part, .wrongType, "“text” in “when” must be a string: the body, with * for any text.")
            }
            condition.text = Glob(Array(text.utf8))
        default:
            let nearest = NearestName.of(part.key, in: ["headers", "query", "json", "text"])
            let advice = nearest.map { "Did you mean “\($0)”?" } ?? "The conditions are headers, query, json and text."
            note(part, .unknownField, "“when” can't have “\(part.key)”. \(advice)")
        }
    }

    /// Returns the members of an object of query parameters. Notes names that are given twice, and returns only the first of them.
    private mutating func members(of part: JSONScanner.Member) -> [JSONScanner.Member] {
        guard case .object(let range) = part.value else {
            note(part, .wrongType, "“\(part.key)” must be an object of names and values.")
            return []
        }
        var seen: Set<String> = []
        return ((try? JSONScanner(bytes, in: range, line: part.line).members()) ?? []).filter { parameter in
            if seen.insert(QueryFields.normalizedName(parameter.key)).inserted { return true }
            note(parameter, .duplicate, "The parameter “\(parameter.key)” is given twice. Keep one.")
            return false
        }
    }

    private mutating func conditions(
        _ members: [JSONScanner.Member],
        of part: JSONScanner.Member,
        name: (String) -> String,
        value: (String) -> Glob
    ) -> [RequestCondition.Field] {
        if members.isEmpty, case .object = part.value {
            note(part, .invalidValue, "“\(part.key)” in “when” is empty. Add a name and value, or remove it.")
        }
        var fields: [RequestCondition.Field] = []
        for member in members {
            switch member.value {
            case .string(let text): fields.append(.init(name: name(member.key), value: value(text)))
            case .null: fields.append(.init(name: name(member.key), value: nil))
            case .object, .other:
                let expected = "a string with * for any text, or null for absent"
                note(member, .wrongType, "“\(member.key)” in “when” must be \(expected).")
            }
        }
        return fields.sorted { $0.name < $1.name }
    }
}
