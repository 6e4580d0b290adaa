import Foundation

/// Reads `headers` and `setRequestHeaders`.
extension EntryFieldsReader {
    mutating func readHeaders(_ member: JSONScanner.Member) {
        for header in headers(of: member) {
            guard case .string(let value) = header.value else {
                note(header, .wrongType, "The header “\(header.key)” must be a string.")
                continue
            }
            if let problem = HTTPSyntax.problem(ofHeader: header.key, value: value) {
                note(header, .invalidHeader, problem)
            } else {
                fields.headers[header.key] = value
            }
        }
    }

    mutating func readRequestHeaders(_ member: JSONScanner.Member) {
        let headers = headers(of: member)
        for header in headers {
            let value: String?
            switch header.value {
            case .string(let text): value = text
            case .null: value = nil
            case .object, .other:
                note(header, .wrongType, "The header “\(header.key)” must be a string, or null to remove it.")
                continue
            }
            if let problem = HTTPSyntax.problem(ofRequestHeader: header.key, value: value ?? "") {
                note(header, .invalidHeader, problem)
            } else {
                fields.requestHeaders.updateValue(value, forKey: header.key)
            }
        }
        if headers.isEmpty, case .object = member.value {
            note(member, .invalidValue, "“setRequestHeaders” is empty. Name a header, or remove it.")
        }
    }

    /// Returns the members of an object of headers. Notes names that are given twice, and returns only the first of them.
    mutating func headers(of member: JSONScanner.Member) -> [JSONScanner.Member] {
        guard case .object(let range) = member.value else {
            note(member, .wrongType, "“\(member.key)” must be an object of names and values.")
            return []
        }
        var seen: [String: String] = [:]
        return ((try? JSONScanner(bytes, in: range, line: member.line).members()) ?? []).filter { header in
            guard let other = seen.updateValue(header.key, forKey: header.key.lowercased()) else { return true }
            let how = other == header.key ? "twice" : "as “\(other)” too, and case doesn't matter"
            note(header, .duplicate, "The header “\(header.key)” is given \(how). Keep one.")
            return false
        }
    }
}
