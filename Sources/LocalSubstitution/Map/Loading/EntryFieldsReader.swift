package import Foundation

/// A reader of one JSON object's fields that notes every problem with them.
package struct EntryFieldsReader {
    package var fields = EntryFields()
    package private(set) var problems: [(line: Int, kind: SubstitutionMap.Problem.Kind, message: String)] = []
    /// The line of each field in the object; see ``checkWhatGoesTogether()``.
    private(set) var lines: [String: Int] = [:]

    let bytes: [UInt8]
    /// The line of the value; 0 for a map made in code, whose text has no lines.
    let line: Int
    /// The bodies of answers that were given in code. The JSON refers to them by index.
    let data: [Data]

    /// Reads the object of an entry, of an alternative or of `$defaults`.
    package init(
        _ range: Range<Int>,
        of bytes: [UInt8],
        line: Int,
        in place: FieldNames.Place = .entry,
        data: [Data] = []
    ) {
        self.init(bytes, line, data)
        // The whole map has already been scanned, so this is known to be JSON.
        for member in (try? JSONScanner(bytes, in: range, line: line).members()) ?? [] {
            guard lines.updateValue(member.line, forKey: member.key) == nil else {
                note(member, .duplicate, "The field “\(member.key)” is given twice. Keep one.")
                continue
            }
            if let refusal = FieldNames.refusal(of: member.key, in: place), EntryFields.names.contains(member.key) {
                note(member, .conflict, refusal)
            } else {
                read(member)
            }
        }
        if problems.isEmpty, place != .defaults { checkWhatGoesTogether() }
    }

    /// Reads a list of alternatives.
    init(listIn range: Range<Int>, of bytes: [UInt8], line: Int, data: [Data] = []) {
        self.init(bytes, line, data)
        readAlternatives(in: range, line: line)
    }

    private init(_ bytes: [UInt8], _ line: Int, _ data: [Data]) {
        self.bytes = bytes
        self.line = line
        self.data = data
    }

    /// Returns the line of a field, or of the value if the field isn't set; `nil` for a map made in code.
    func lineInMap(_ field: String) -> Int? { line > 0 ? lines[field] ?? line : nil }

    private mutating func read(_ member: JSONScanner.Member) {
        switch member.key {
        case "file": fields.file = decode(member, "a string with the name of a file")
        case "json": readJSON(member)
        case "text": readText(member)
        case "data" where !data.isEmpty: readData(member)
        case "error": readError(member)
        case "forwardTo": readForwardTo(member)
        case "setRequestHeaders": readRequestHeaders(member)
        case "mimeType": readMIMEType(member)
        case "charset": readCharset(member)
        case "status": readStatus(member)
        case "headers": readHeaders(member)
        case "ignoreQuery": readIgnoreQuery(member)
        case "use": readUse(member)
        case "timeout": readTimeout(member)
        case "delay": readDelay(member)
        case "methods": readMethods(member)
        case "when": readWhen(member)
        case "times": readTimes(member)
        case "alternatives": readAlternatives(member)
        case "enabled": fields.isEnabled = decode(member, "true or false")
        case "comment": let _: String? = decode(member, "a string")
        default:
            let advice = FieldNames.advice(on: member.key)
            note(member, .unknownField, "The field “\(member.key)” is unknown. \(advice)")
        }
    }

    private mutating func readMIMEType(_ member: JSONScanner.Member) {
        guard let type: String = decode(member, "a string, such as “image/png”") else { return }
        guard HTTPSyntax.isMIMEType(type) else {
            return note(
                member,
                .invalidValue,
                "“\(type)” isn't a MIME type. Use type/subtype, such as “image/png”, and the field “charset”."
            )
        }
        fields.mimeType = type
    }

    private mutating func readCharset(_ member: JSONScanner.Member) {
        guard let charset: String = decode(member, "a string, such as “utf-8”") else { return }
        guard HTTPSyntax.isToken(charset) else {
            return note(member, .invalidValue, "“\(charset)” isn't a charset. Use an IANA name, such as “utf-8”.")
        }
        fields.charset = charset
    }

    private mutating func readStatus(_ member: JSONScanner.Member) {
        guard let status: Int = decode(member, "a number, such as 404") else { return }
        guard (100...599).contains(status) else {
            return note(member, .invalidValue, "“status” can't be \(status). Use a number from 100 to 599.")
        }
        fields.status = status
    }

    private mutating func readIgnoreQuery(_ member: JSONScanner.Member) {
        let expected = "true, or a list of parameter names"
        guard case .other(let range) = member.value else {
            return note(member, .wrongType, "“ignoreQuery” must be \(expected).")
        }
        if let all = try? JSONDecoder().decode(Bool.self, from: Data(bytes[range])) {
            // An empty list instead of `nil`, so that an entry's `false` overrides a default of `true`.
            fields.ignoreQuery = IgnoreQuery(names: all ? nil : [])
            return
        }
        guard let names: [String] = decode(member, expected) else { return }
        if let name = names.first(where: { $0.isEmpty || $0.dropLast().contains("*") }) {
            return note(
                member,
                .invalidValue,
                "“ignoreQuery” can't have “\(name)”. Write a parameter's name, with * only at its end."
            )
        }
        fields.ignoreQuery = IgnoreQuery(names: names.sorted())
    }

    private mutating func readUse(_ member: JSONScanner.Member) {
        guard let name: String = decode(member, "a string, such as “always”") else { return }
        guard let use = Substitution.Use(rawValue: name) else {
            let all = Substitution.Use.allCases.map(\.rawValue)
            let advice =
                NearestName.of(name, in: all).map { "Did you mean “\($0)”?" }
                ?? "Use “always”, “untilUpdated” or “whenOffline”."
            return note(member, .invalidValue, "“use” can't be “\(name)”. \(advice)")
        }
        fields.use = use
    }

    private mutating func readTimeout(_ member: JSONScanner.Member) {
        guard let timeout: Double = decode(member, "a number of seconds") else { return }
        guard timeout > 0 else { return note(member, .invalidValue, "“timeout” must be more than 0 seconds.") }
        fields.timeout = timeout
    }

    private mutating func readMethods(_ member: JSONScanner.Member) {
        guard let methods: [String] = decode(member, "a list of HTTP methods, such as [\"GET\"]") else { return }
        guard !methods.isEmpty else {
            return note(member, .invalidValue, "“methods” is empty. Name at least one HTTP method, such as [\"GET\"].")
        }
        if let wrong = methods.first(where: { !HTTPSyntax.isToken($0) }) {
            return note(member, .invalidValue, "“\(wrong)” isn't an HTTP method. Use one such as “GET”.")
        }
        guard methods == ["*"] || !methods.contains("*") else {
            return note(member, .invalidValue, "“methods” lists * and others. Write [\"*\"] for all methods.")
        }
        fields.methods = methods
    }

    private mutating func readDelay(_ member: JSONScanner.Member) {
        guard let delay: Double = decode(member, "a number of seconds from 0 to 3600") else { return }
        guard (0...3600).contains(delay) else {
            return note(member, .invalidValue, "“delay” must be a number of seconds from 0 to 3600.")
        }
        fields.delay = delay
    }

    private mutating func readTimes(_ member: JSONScanner.Member) {
        guard let times: Int = decode(member, "a whole number of at least 1") else { return }
        guard times >= 1 else { return note(member, .invalidValue, "“times” must be a whole number of at least 1.") }
        fields.times = times
    }

    mutating func decode<Value: Decodable>(_ member: JSONScanner.Member, _ expected: String) -> Value? {
        switch member.value {
        case .string(let string):
            if let value = string as? Value { return value }
        case .object(let range), .other(let range):
            if let value = try? JSONDecoder().decode(Value.self, from: Data(bytes[range])) { return value }
        case .null:
            break
        }
        note(member, .wrongType, "“\(member.key)” must be \(expected).")
        return nil
    }

    mutating func note(_ member: JSONScanner.Member, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        note(member.line, kind, message)
    }

    mutating func note(_ line: Int, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        problems.append((self.line == 0 ? 0 : line, kind, message))
    }
}
