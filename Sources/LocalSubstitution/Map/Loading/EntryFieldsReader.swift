import Foundation

/// Reads the fields of one JSON object, and notes everything that is wrong with them.
struct EntryFieldsReader {
    private(set) var fields = EntryFields()
    private(set) var problems: [(line: Int, kind: SubstitutionMap.Problem.Kind, message: String)] = []

    private let bytes: [UInt8]

    init(_ range: Range<Int>, of bytes: [UInt8], line: Int) {
        self.bytes = bytes
        var seen: Set<String> = []
        // The whole map was scanned before, so this is known to be JSON.
        for member in (try? JSONScanner(bytes, in: range, line: line).members()) ?? [] {
            guard seen.insert(member.key).inserted else {
                note(member, .duplicate, "the field “\(member.key)” is given twice: keep one")
                continue
            }
            read(member)
        }
    }

    private mutating func read(_ member: JSONScanner.Member) {
        switch member.key {
        case "file": fields.file = decode(member, "a string, the name of a file")
        case "mimeType": readMIMEType(member)
        case "charset": readCharset(member)
        case "status": readStatus(member)
        case "headers": readHeaders(member)
        case "ignoreQuery": readIgnoreQuery(member)
        case "use": readUse(member)
        case "timeout": readTimeout(member)
        case "methods": readMethods(member)
        case "enabled": fields.isEnabled = decode(member, "true or false")
        case "comment": let _: String? = decode(member, "a string")
        default:
            let nearest = NearestName.of(member.key, in: EntryFields.names)
            note(
                member,
                .unknownField,
                "the field “\(member.key)” is unknown"
                    + (nearest.map { ": did you mean “\($0)”?" }
                        ?? ": the fields are \(EntryFields.names.joined(separator: ", "))")
            )
        }
    }

    private mutating func readMIMEType(_ member: JSONScanner.Member) {
        guard let type: String = decode(member, "a string, such as “image/png”") else { return }
        guard HTTPSyntax.isMIMEType(type) else {
            return note(
                member,
                .invalidValue,
                "“\(type)” isn't a MIME type: use type/subtype, such as “image/png”, and the field “charset”"
            )
        }
        fields.mimeType = type
    }

    private mutating func readCharset(_ member: JSONScanner.Member) {
        guard let charset: String = decode(member, "a string, such as “utf-8”") else { return }
        guard HTTPSyntax.isToken(charset) else {
            return note(member, .invalidValue, "“\(charset)” isn't a charset: use an IANA name, such as “utf-8”")
        }
        fields.charset = charset
    }

    private mutating func readStatus(_ member: JSONScanner.Member) {
        guard let status: Int = decode(member, "a number, such as 404") else { return }
        guard (100...599).contains(status) else {
            return note(member, .invalidValue, "the status \(status) is not in 100–599")
        }
        fields.status = status
    }

    private mutating func readHeaders(_ member: JSONScanner.Member) {
        guard case .object(let range) = member.value else {
            return note(member, .wrongType, "“headers” must be an object of names and values")
        }
        var seen: [String: String] = [:]
        for header in (try? JSONScanner(bytes, in: range, line: member.line).members()) ?? [] {
            if let other = seen.updateValue(header.key, forKey: header.key.lowercased()) {
                let how = other == header.key ? "twice" : "as “\(other)” too: names are the same in any case"
                note(header, .duplicate, "the header “\(header.key)” is given \(how)")
                continue
            }
            guard case .string(let value) = header.value else {
                note(header, .wrongType, "the header “\(header.key)” must have a string as its value")
                continue
            }
            if let problem = HTTPSyntax.problem(ofHeader: header.key, value: value) {
                note(header, .invalidHeader, problem)
            } else {
                fields.headers[header.key] = value
            }
        }
    }

    private mutating func readIgnoreQuery(_ member: JSONScanner.Member) {
        let expected = "true, or a list of parameter names"
        guard case .other(let range) = member.value else {
            return note(member, .wrongType, "“ignoreQuery” must be \(expected)")
        }
        if let all = try? JSONDecoder().decode(Bool.self, from: Data(bytes[range])) {
            // Not `nil`: an entry's `false` wins over a `true` of the defaults.
            fields.ignoreQuery = IgnoreQuery(names: all ? nil : [])
            return
        }
        guard let names: [String] = decode(member, expected) else { return }
        guard names.allSatisfy({ !$0.isEmpty && !$0.dropLast().contains("*") }) else {
            return note(
                member,
                .invalidValue,
                "“ignoreQuery” has a name that is empty, or whose * is not its last character"
            )
        }
        fields.ignoreQuery = IgnoreQuery(names: names.sorted())
    }

    private mutating func readUse(_ member: JSONScanner.Member) {
        guard let name: String = decode(member, "a string, such as “always”") else { return }
        guard let use = Substitution.Use(rawValue: name) else {
            let all = Substitution.Use.allCases.map(\.rawValue)
            let advice =
                NearestName.of(name, in: all).map { "did you mean “\($0)”?" } ?? "write \(all.joined(separator: ", "))"
            return note(member, .invalidValue, "“use” can't be “\(name)”: \(advice)")
        }
        fields.use = use
    }

    private mutating func readTimeout(_ member: JSONScanner.Member) {
        guard let timeout: Double = decode(member, "a number of seconds") else { return }
        guard timeout > 0 else { return note(member, .invalidValue, "“timeout” must be more than 0 seconds") }
        fields.timeout = timeout
    }

    private mutating func readMethods(_ member: JSONScanner.Member) {
        guard let methods: [String] = decode(member, "a list of HTTP methods, such as [\"GET\"]") else { return }
        guard !methods.isEmpty, methods.allSatisfy({ HTTPSyntax.isToken($0) }) else {
            return note(member, .invalidValue, "“methods” must name at least one HTTP method, such as [\"GET\"]")
        }
        fields.methods = methods
    }

    private mutating func decode<Value: Decodable>(_ member: JSONScanner.Member, _ expected: String) -> Value? {
        switch member.value {
        case .string(let string):
            if let value = string as? Value { return value }
        case .object(let range), .other(let range):
            if let value = try? JSONDecoder().decode(Value.self, from: Data(bytes[range])) { return value }
        case .null:
            break
        }
        note(member, .wrongType, "“\(member.key)” must be \(expected)")
        return nil
    }

    private mutating func note(
        _ member: JSONScanner.Member,
        _ kind: SubstitutionMap.Problem.Kind,
        _ message: String
    ) {
        problems.append((member.line, kind, message))
    }
}
