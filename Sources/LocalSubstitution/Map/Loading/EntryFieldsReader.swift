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
        in place: EntryFields.Place = .entry,
        data: [Data] = []
    ) {
        self.init(bytes, line, data)
        // The whole map has already been scanned, so this is known to be JSON.
        for member in (try? JSONScanner(bytes, in: range, line: line).members()) ?? [] {
            guard lines.updateValue(member.line, forKey: member.key) == nil else {
                note(member, .duplicate, "The field “\(member.key)” is given twice. Keep one.")
                continue
            }
            if let refusal = EntryFields.refusal(of: member.key, in: place),
                EntryFields.names.contains(member.key)
            {
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
            let advice = EntryFields.advice(on: member.key)
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
            fields.ignoreQuery = Query.Ignored(names: all ? nil : [])
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
        fields.ignoreQuery = Query.Ignored(names: names.sorted())
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

/// Reads the fields that say what answers, and checks that the fields go together.
extension EntryFieldsReader {
    mutating func readJSON(_ member: JSONScanner.Member) {
        guard !isTooDeep(member) else { return }
        fields.body = Entry.Body(Data(bytes[member.range]), .json)
    }

    mutating func readText(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string with the body") else { return }
        fields.body = Entry.Body(Data(text.utf8), .text)
    }

    /// Reads the index of a body that was given in code.
    mutating func readData(_ member: JSONScanner.Member) {
        guard let number: Int = decode(member, "a number"), data.indices.contains(number) else { return }
        fields.body = Entry.Body(data[number], .data)
    }

    mutating func readError(_ member: JSONScanner.Member) {
        guard let name: String = decode(member, "a string, such as “timedOut”") else { return }
        guard let code = URLErrorNames.code(name) else {
            let nearest =
                Self.errorsByWord[name.lowercased()] ?? NearestName.of(name, in: URLErrorNames.all.map(\.name))
            let advice = nearest.map { "Did you mean “\($0)”?" } ?? "Use a code of URLError, such as “timedOut”."
            return note(member, .invalidValue, "“error” can't be “\(name)”. \(advice)")
        }
        fields.error = code
    }

    /// Common guesses whose spelling is too different from the right name to suggest it.
    private static let errorsByWord = [
        "offline": "notConnectedToInternet", "nointernet": "notConnectedToInternet",
        "connectionlost": "networkConnectionLost", "connectionrefused": "cannotConnectToHost",
    ]

    mutating func readForwardTo(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string with an absolute URL") else { return }
        do throws(URLParts.SyntaxError) {
            fields.forwardTo = try ForwardTarget(text)
        } catch {
            note(member, .invalidValue, "“forwardTo” \(error.message)")
        }
    }

    mutating func readAlternatives(_ member: JSONScanner.Member) {
        guard case .other(let range) = member.value, bytes[range.lowerBound] == UInt8(ascii: "[") else {
            return note(member, .wrongType, "“alternatives” must be a list of file names and objects.")
        }
        readAlternatives(in: range, line: member.line)
    }

    mutating func readAlternatives(in range: Range<Int>, line: Int) {
        let elements = (try? JSONScanner(bytes, in: range, line: line).elements()) ?? []
        guard !elements.isEmpty else {
            return note(line, .wrongType, "The list of alternatives is empty. Add a file name or an object.")
        }
        guard elements.count <= Self.mostAlternatives else {
            return note(
                line,
                .invalidValue,
                "The list has more than \(Self.mostAlternatives.grouped) alternatives. Remove some."
            )
        }
        for (index, element) in elements.enumerated() { readAlternative(element, number: index + 1) }
    }

    private static let mostAlternatives = 10_000

    private mutating func readAlternative(_ element: JSONScanner.Element, number: Int) {
        switch element.value {
        case .string(let file):
            var own = EntryFields()
            own.file = file
            fields.alternatives.append((element.line, own))
        case .object(let range):
            let line = self.line == 0 ? 0 : element.line
            let reader = EntryFieldsReader(range, of: bytes, line: line, in: .alternative, data: data)
            for problem in reader.problems {
                note(problem.line, problem.kind, "Alternative \(number): \(problem.message)")
            }
            fields.alternatives.append((element.line, reader.fields))
        case .null:
            let advice = "Remove it, or make null the key's only value."
            note(element.line, .wrongType, "Alternative \(number) can't be null: only a whole entry can. \(advice)")
        case .other:
            note(element.line, .wrongType, "Alternative \(number) must be a file name or an object.")
        }
    }

    /// Notes fields that contradict each other, and an entry without an answer.
    mutating func checkWhatGoesTogether() {
        let answers = EntryFields.Kind.answers.filter { lines[$0] != nil }.sorted {
            (lines[$0] ?? 0) < (lines[$1] ?? 0)
        }
        if answers.count > 1 {
            return note(
                lines[answers[1]] ?? line,
                .conflict,
                "“\(answers[0])” and “\(answers[1])” can't go together. Keep one of them."
            )
        }
        guard let kind = EntryFields.Kind(fields) else {
            return note(
                line,
                .noFile,
                "The answer is missing. Add “file”, “json”, “text”, “status”, “error” or “forwardTo”."
            )
        }
        let answer = answers.first ?? (kind == .empty ? "status" : "setRequestHeaders")
        let refused = lines.filter { $0.key != answer && !kind.allows($0.key) }
        for (field, line) in refused.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            note(line, .conflict, "“\(field)” can't go with “\(answer)”\(kind.refusal(of: field))")
        }
        if refused.isEmpty, let conflict = EntryFields.Kind.conflict(of: fields) {
            note(lines[conflict.field] ?? line, .conflict, conflict.message)
        }
    }

    /// Returns whether a JSON value is nested too deeply, and if so, notes it as a problem.
    mutating func isTooDeep(_ member: JSONScanner.Member) -> Bool {
        let deepest = JSONValue.deepest
        let isTooDeep = bytes.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes, in: member.range, line: 1, isStrict: true, deepest: deepest)
            return (try? cursor.skip()) == nil
        }
        if isTooDeep {
            note(member, .invalidValue, "“\(member.key)” is nested more than \(deepest) levels deep. Use a file.")
        }
        return isTooDeep
    }
}

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
                name: Query.normalizedName,
                value: Query.normalizedValue
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
            if seen.insert(Query.normalizedName(parameter.key)).inserted { return true }
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
