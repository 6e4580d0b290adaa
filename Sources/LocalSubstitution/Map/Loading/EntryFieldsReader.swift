package import Foundation

/// A reader of one JSON object's fields that notes every problem with them.
package struct EntryFieldsReader {
    package var fields = EntryFields()
    package private(set) var problems: [(line: Int, kind: SubstitutionMap.Problem.Kind, message: String)] = []
    /// The line of each field in the object; see `checkWhatGoesTogether()`.
    private var lines: [String: Int] = [:]

    private let bytes: [UInt8]
    /// The line of the value; 0 for a map made in code, whose text has no lines.
    let line: Int
    /// The bodies of answers that were given in code. The JSON refers to them by index.
    private let data: [Data]

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
            if let field = EntryFields.Field.named[member.key] {
                if let refusal = field.refusal(in: place) {
                    note(member, .conflict, refusal)
                } else {
                    field.read(&self, member)
                }
            } else if member.key == "data", !data.isEmpty {
                readData(member)
            } else {
                let advice = EntryFields.Field.advice(on: member.key)
                note(member, .unknownField, "The field “\(member.key)” is unknown. \(advice)")
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

    // MARK: Fields with a value

    mutating func readMIMEType(_ member: JSONScanner.Member) {
        fields.mimeType = value(member, "a string, such as “image/png”") { type in
            HTTPSyntax.isMIMEType(type)
                ? nil : "“\(type)” isn't a MIME type. Use type/subtype, such as “image/png”, and the field “charset”."
        }
    }

    mutating func readCharset(_ member: JSONScanner.Member) {
        fields.charset = value(member, "a string, such as “utf-8”") { charset in
            HTTPSyntax.isToken(charset)
                ? nil : "“\(charset)” isn't a charset. Use an IANA name, such as “utf-8”."
        }
    }

    mutating func readStatus(_ member: JSONScanner.Member) {
        fields.status = value(member, "a number, such as 404") { status in
            100...599 ~= status ? nil : "“status” can't be \(status). Use a number from 100 to 599."
        }
    }

    mutating func readIgnoreQuery(_ member: JSONScanner.Member) {
        let expected = "true, or a list of parameter names"
        guard case .other(let range) = member.value else {
            return note(member, .wrongType, "“ignoreQuery” must be \(expected).")
        }
        if let all = try? JSONDecoder().decode(Bool.self, from: Data(bytes[range])) {
            // An empty list instead of `nil`, so that an entry's `false` overrides a default of `true`.
            fields.ignoreQuery = Query.Ignored(names: all ? nil : [])
            return
        }
        let names: [String]? = value(member, expected) { names in
            names.first { $0.isEmpty || $0.dropLast().contains("*") }.map {
                "“ignoreQuery” can't have “\($0)”. Write a parameter's name, with * only at its end."
            }
        }
        fields.ignoreQuery = names.map { Query.Ignored(names: $0.sorted()) }
    }

    mutating func readUse(_ member: JSONScanner.Member) {
        let name: String? = value(member, "a string, such as “always”") { name in
            let all = Substitution.Use.allCases.map(\.rawValue)
            guard !all.contains(name) else { return nil }
            let advice =
                NearestName.of(name, in: all).map { "Did you mean “\($0)”?" }
                ?? "Use “always”, “untilUpdated” or “whenOffline”."
            return "“use” can't be “\(name)”. \(advice)"
        }
        fields.use = name.flatMap { Substitution.Use(rawValue: $0) }
    }

    mutating func readTimeout(_ member: JSONScanner.Member) {
        fields.timeout = value(member, "a number of seconds") {
            $0 > 0 ? nil : "“timeout” must be more than 0 seconds."
        }
    }

    mutating func readMethods(_ member: JSONScanner.Member) {
        fields.methods = value(member, "a list of HTTP methods, such as [\"GET\"]") { methods in
            if methods.isEmpty { return "“methods” is empty. Name at least one HTTP method, such as [\"GET\"]." }
            if let wrong = methods.first(where: { !HTTPSyntax.isToken($0) }) {
                return "“\(wrong)” isn't an HTTP method. Use one such as “GET”."
            }
            guard methods == ["*"] || !methods.contains("*") else {
                return "“methods” lists * and others. Write [\"*\"] for all methods."
            }
            return nil
        }
    }

    mutating func readDelay(_ member: JSONScanner.Member) {
        let expected = "a number of seconds from 0 to 3600"
        fields.delay = value(member, expected) { 0...3600 ~= $0 ? nil : "“delay” must be \(expected)." }
    }

    mutating func readTimes(_ member: JSONScanner.Member) {
        let expected = "a whole number of at least 1"
        fields.times = value(member, expected) { $0 >= 1 ? nil : "“times” must be \(expected)." }
    }

    /// Returns a field's value. Notes it as a problem if it has another type, or if the check returns what's wrong with it.
    private mutating func value<Value: Decodable>(
        _ member: JSONScanner.Member,
        _ expected: String,
        check: (Value) -> String?
    ) -> Value? {
        guard let value: Value = decode(member, expected) else { return nil }
        guard let problem = check(value) else { return value }
        note(member, .invalidValue, problem)
        return nil
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

    private mutating func note(_ member: JSONScanner.Member, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        note(member.line, kind, message)
    }

    private mutating func note(_ line: Int, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        problems.append((self.line == 0 ? 0 : line, kind, message))
    }
}

/// Reads the fields that say what answers, and checks that the fields go together.
extension EntryFieldsReader {
    mutating func readJSON(_ member: JSONScanner.Member) {
        guard !isTooDeep(member) else { return }
        fields.answer = .inline(Entry.Body(Data(bytes[member.range]), .json))
    }

    mutating func readText(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string with the body") else { return }
        fields.answer = .inline(Entry.Body(Data(text.utf8), .text))
    }

    /// Reads the index of a body that was given in code.
    private mutating func readData(_ member: JSONScanner.Member) {
        guard let number: Int = decode(member, "a number"), data.indices.contains(number) else { return }
        fields.answer = .inline(Entry.Body(data[number], .data))
    }

    mutating func readError(_ member: JSONScanner.Member) {
        guard let name: String = decode(member, "a string, such as “timedOut”") else { return }
        guard let code = URLErrorNames.code(name) else {
            let nearest =
                Self.errorsByWord[name.lowercased()] ?? NearestName.of(name, in: URLErrorNames.all.map(\.name))
            let advice = nearest.map { "Did you mean “\($0)”?" } ?? "Use a code of URLError, such as “timedOut”."
            return note(member, .invalidValue, "“error” can't be “\(name)”. \(advice)")
        }
        fields.answer = .error(code)
    }

    /// Common guesses whose spelling is too different from the right name to suggest it.
    private static let errorsByWord = [
        "offline": "notConnectedToInternet", "nointernet": "notConnectedToInternet",
        "connectionlost": "networkConnectionLost", "connectionrefused": "cannotConnectToHost",
    ]

    mutating func readForwardTo(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string with an absolute URL") else { return }
        do throws(URLParts.SyntaxError) {
            fields.answer = .network(try ForwardTarget(text))
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

    private mutating func readAlternatives(in range: Range<Int>, line: Int) {
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
    private mutating func checkWhatGoesTogether() {
        let answers = EntryFields.Field.answers.filter { lines[$0] != nil }
            .sorted { lines[$0, default: 0] < lines[$1, default: 0] }
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
        let refused = lines.filter { $0.key != answer && EntryFields.Field.named[$0.key]?.allows(kind) == false }
        for (field, line) in refused.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            note(line, .conflict, "“\(field)” can't go with “\(answer)”\(kind.refusal(of: field))")
        }
        if refused.isEmpty, let conflict = EntryFields.Kind.conflict(of: fields) {
            note(lines[conflict.field] ?? line, .conflict, conflict.message)
        }
    }

    /// Returns whether a JSON value is nested too deeply, and if so, notes it as a problem.
    private mutating func isTooDeep(_ member: JSONScanner.Member) -> Bool {
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
    private mutating func headers(of member: JSONScanner.Member) -> [JSONScanner.Member] {
        members(of: member, name: { $0.lowercased() }) { header, first in
            let how = first == header ? "twice" : "as “\(first)” too, and case doesn't matter"
            return "The header “\(header)” is given \(how). Keep one."
        }
    }

    /// - Parameters:
    ///   - name: Returns the form in which names are compared.
    ///   - duplicate: Returns the problem with a name that is given twice, in the way that it's written here and first.
    private mutating func members(
        of member: JSONScanner.Member,
        name: (String) -> String,
        duplicate: (_ written: String, _ first: String) -> String
    ) -> [JSONScanner.Member] {
        guard case .object(let range) = member.value else {
            note(member, .wrongType, "“\(member.key)” must be an object of names and values.")
            return []
        }
        var seen: [String: String] = [:]
        return ((try? JSONScanner(bytes, in: range, line: member.line).members()) ?? []).filter { part in
            guard let first = seen.updateValue(part.key, forKey: name(part.key)) else { return true }
            note(part, .duplicate, duplicate(part.key, first))
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
            condition.headers = conditions(headers(of: part), of: part, name: { $0 }, value: { Glob($0) })
        case "query":
            let parameters = members(of: part, name: Query.normalizedName) { name, _ in
                "The parameter “\(name)” is given twice. Keep one."
            }
            condition.query = conditions(
                parameters,
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
            condition.text = Glob(text)
        default:
            let nearest = NearestName.of(part.key, in: ["headers", "query", "json", "text"])
            let advice = nearest.map { "Did you mean “\($0)”?" } ?? "The conditions are headers, query, json and text."
            note(part, .unknownField, "“when” can't have “\(part.key)”. \(advice)")
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
