package import Foundation

/// A reader of the fields of an entry, an alternative, `$defaults` or a handler's answer. It notes every problem.
package final class EntryFieldsReader {
    typealias Member = JSONScanner.Member

    package var fields = EntryFields()
    package private(set) var problems: [(line: Int, kind: SubstitutionMap.Problem.Kind, message: String)] = []
    /// The line of each of the object's fields, for problems that are found after all fields are read.
    private var lines: [String: Int] = [:]
    /// The beginning of messages while a part of the object is read, such as “Piece 2: ”; empty by default.
    var prefix = ""

    let bytes: [UInt8]
    /// The line of the object or list that's read; 0 for a map made in code, which has no lines.
    let line: Int
    /// The bodies that were passed as data in code. In the JSON, the field `data` is an index into this list.
    let data: [Data]
    let handlers: SubstitutionMap.HandlerTable

    /// Creates a reader, and reads an object of fields or, for an entry, a list of alternatives.
    ///
    /// - Parameter valueLine: The line on which the object or list begins; `nil`, the default, if it's `line`.
    package init(
        _ range: Range<Int>,
        of bytes: [UInt8],
        line: Int,
        valueLine: Int? = nil,
        in place: EntryFields.Place = .entry,
        data: [Data] = [],
        handlers: SubstitutionMap.HandlerTable = .any
    ) {
        self.bytes = bytes
        self.line = line
        self.data = data
        self.handlers = handlers
        if place == .entry, bytes[range.lowerBound] == UInt8(ascii: "[") {
            readAlternatives(in: range, line: line, valueLine: valueLine ?? line)
            return
        }
        for member in members(in: range, line: valueLine ?? line) {
            guard lines.updateValue(member.line, forKey: member.key) == nil else {
                note(member, .duplicate, "The field “\(member.key)” is given twice. Keep one.")
                continue
            }
            if let field = EntryFields.Field.named(member.key) {
                if let refusal = field.refusal(in: place) {
                    note(member, .conflict, refusal)
                } else {
                    fields.kind = field.answer ?? fields.kind
                    field.read(self, member)
                }
            } else if member.key == "data", !data.isEmpty {
                readData(member)
            } else {
                let advice = EntryFields.Field.advice(on: member.key)
                note(member, .unknownField, "The field “\(member.key)” is unknown. \(advice)")
            }
        }
        if fields.kind == nil, fields.status != nil {
            fields.kind = .empty
        } else if fields.kind == nil, !fields.requestHeaders.isEmpty {
            (fields.kind, fields.answer) = (.network, .network(nil))
        }
        if problems.isEmpty, place != .defaults { checkWhatGoesTogether() }
    }

    /// Creates a reader, and reads a member's object or list.
    convenience init(
        _ member: Member,
        of bytes: [UInt8],
        in place: EntryFields.Place = .entry,
        data: [Data] = [],
        handlers: SubstitutionMap.HandlerTable = .any
    ) {
        let (line, valueLine) = (member.line, member.valueLine)
        self.init(member.range, of: bytes, line: line, valueLine: valueLine, in: place, data: data, handlers: handlers)
    }

    /// Returns the line of a field, or the object's line if the field isn't set; `nil` for a map made in code.
    func lineInMap(_ field: String) -> Int? { line > 0 ? lines[field] ?? line : nil }

    // MARK: Fields with a value

    func readMIMEType(_ member: Member) {
        guard let type = string(member, "a string, such as “image/png”") else { return }
        guard HTTPSyntax.isMIMEType(type) else {
            let advice = "Use type/subtype, such as “image/png”. A charset goes into the field “charset”."
            return note(member, .invalidValue, "“\(type)” isn't a MIME type. \(advice)")
        }
        fields.mimeType = type
    }

    func readCharset(_ member: Member) {
        guard let charset = string(member, "a string, such as “utf-8”") else { return }
        guard HTTPSyntax.isToken(charset) else {
            return note(member, .invalidValue, "“\(charset)” isn't a charset. Use an IANA name, such as “utf-8”.")
        }
        fields.charset = charset
    }

    func readStatus(_ member: Member) {
        guard let status = integer(member, "a number, such as 404") else { return }
        guard 100...599 ~= status else {
            return note(member, .invalidValue, "“status” can't be \(status). Use a number from 100 to 599.")
        }
        fields.status = status
    }

    func readIgnoreQuery(_ member: Member) {
        if case .bool(let all) = json(member) {
            // `false` becomes a rule without names, not an unset field, so that it overrides a default of `true`.
            fields.ignoreQuery = Query.Ignored(names: all ? nil : [])
            return
        }
        guard let names = strings(member, "true, false or a list of parameter names") else { return }
        if let wrong = names.first(where: { $0.isEmpty || $0.dropLast().contains("*") }) {
            let advice = "Write a parameter's name, which may end in *."
            return note(member, .invalidValue, "“ignoreQuery” can't have “\(wrong)”. \(advice)")
        }
        fields.ignoreQuery = Query.Ignored(names: names.ordered(by: <))
    }

    func readUse(_ member: Member) {
        guard let name = string(member, "a string, such as “always”") else { return }
        guard let use = Substitution.Use(rawValue: name) else {
            let names = Substitution.Use.allCases.map(\.rawValue)
            let other = "Use “always”, “untilUpdated” or “whenOffline”."
            let advice = NearestName.advice(on: name, in: names, or: other)
            return note(member, .invalidValue, "“use” can't be “\(name)”. \(advice)")
        }
        fields.use = use
    }

    func readTimeout(_ member: Member) {
        guard let seconds = number(member, "a number of seconds") else { return }
        guard seconds > 0 else {
            return note(member, .invalidValue, "“timeout” must be more than 0 seconds.")
        }
        fields.timeout = seconds
    }

    func readMethods(_ member: Member) {
        guard let methods = strings(member, "a list of HTTP methods, such as [\"GET\"]") else { return }
        if methods.isEmpty {
            let advice = "Name at least one HTTP method, such as [\"GET\"]."
            return note(member, .invalidValue, "“methods” is empty. \(advice)")
        }
        if let wrong = methods.first(where: { !HTTPSyntax.isToken($0) }) {
            return note(member, .invalidValue, "“\(wrong)” isn't an HTTP method. Use one such as “GET”.")
        }
        guard methods == ["*"] || !methods.contains("*") else {
            let advice = "Write [\"*\"] for all methods, or remove the *."
            return note(member, .invalidValue, "“methods” lists * and other methods. \(advice)")
        }
        fields.methods = methods
    }

    /// Returns a number of seconds from 0 to 3600. For any other value, notes a problem and returns `nil`.
    func seconds(_ member: Member) -> Double? {
        let expected = "a number of seconds from 0 to 3600"
        guard let seconds = number(member, expected) else { return nil }
        guard 0...3600 ~= seconds else {
            note(member, .invalidValue, "“\(member.key)” must be \(expected).")
            return nil
        }
        return seconds
    }

    func readBytesPerSecond(_ member: Member) {
        let expected = "a whole number from 1 to 1,000,000,000"
        guard let rate = integer(member, expected) else { return }
        guard 1...1_000_000_000 ~= rate else {
            return note(member, .invalidValue, "“bytesPerSecond” must be \(expected).")
        }
        set(.bytesPerSecond(rate), member)
    }

    func readSecondsPerLine(_ member: Member) {
        if let seconds = seconds(member) { set(.secondsPerLine(seconds), member) }
    }

    func readSecondsPerEvent(_ member: Member) {
        if let seconds = seconds(member) { set(.secondsPerEvent(seconds), member) }
    }

    private func set(_ pace: Pace, _ member: Member) {
        guard fields.pace == nil else {
            let advice = "Keep only one of bytesPerSecond, secondsPerLine and secondsPerEvent."
            return note(member, .conflict, "“\(member.key)” can't go with another pace. \(advice)")
        }
        fields.pace = pace
    }

    func readTimes(_ member: Member) {
        let expected = "a whole number of at least 1"
        guard let times = integer(member, expected) else { return }
        guard times >= 1 else { return note(member, .invalidValue, "“times” must be \(expected).") }
        fields.times = times
    }

    // MARK: Values of a type

    // Each function returns a field's value. For a value of another type, it notes a problem and returns `nil`.

    func string(_ member: Member, _ expected: String) -> String? {
        if member.text == nil { noteType(member, expected) }
        return member.text
    }

    func bool(_ member: Member, _ expected: String) -> Bool? {
        if case .bool(let bool) = json(member) { return bool }
        noteType(member, expected)
        return nil
    }

    private func number(_ member: Member, _ expected: String) -> Double? {
        if case .number(let number) = json(member), let double = Double(number.text), double.isFinite { return double }
        noteType(member, expected)
        return nil
    }

    /// Returns an integer. A number such as `1e2` or `4.0` is an integer, too.
    private func integer(_ member: Member, _ expected: String) -> Int? {
        if case .number(let number) = json(member),
            let integer = Int(number.text) ?? Double(number.text).flatMap({ Int(exactly: $0) })
        {
            return integer
        }
        noteType(member, expected)
        return nil
    }

    private func strings(_ member: Member, _ expected: String) -> [String]? {
        if case .array(let elements) = json(member) {
            let strings = elements.compactMap { if case .string(let string) = $0 { string.text } else { nil } }
            if strings.count == elements.count { return strings }
        }
        noteType(member, expected)
        return nil
    }

    private func noteType(_ member: Member, _ expected: String) {
        note(member, .wrongType, "“\(member.key)” must be \(expected).")
    }

    /// Returns a field's value as JSON; `nil` if it's nested more than ``JSONValue/deepest`` levels deep.
    private func json(_ member: Member) -> JSONValue? {
        bytes.withUnsafeBufferPointer { try? JSONValue(UnsafeBufferPointer(rebasing: $0[member.range])) }
    }

    /// Returns the members of an object. Its syntax is valid, since the scan of the whole map has checked it.
    func members(in range: Range<Int>, line: Int) -> [Member] {
        (try? JSONScanner(bytes, in: range, line: line).members()) ?? []
    }

    /// Returns the elements of a list.
    func elements(in range: Range<Int>, line: Int) -> [Member] {
        (try? JSONScanner(bytes, in: range, line: line).elements()) ?? []
    }

    /// Returns the members of a member's object; an empty array for any other value.
    func members(of member: Member) -> [Member] { members(in: member.range, line: member.valueLine) }

    /// Returns the elements of a member's array; an empty array for any other value.
    func elements(of member: Member) -> [Member] { elements(in: member.range, line: member.valueLine) }

    func note(_ member: Member, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        note(member.line, kind, message)
    }

    func note(_ line: Int, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        problems.append((line, kind, prefix + message))
    }
}

/// Reads the fields that set the answer, and checks that the fields don't conflict.
extension EntryFieldsReader {
    func readJSON(_ member: Member) {
        guard !isTooDeep(member) else { return }
        fields.answer = .inline(Entry.Body(Data(bytes[member.range]), .json))
    }

    func readText(_ member: Member) {
        guard let text = string(member, "a string with the body") else { return }
        fields.answer = .inline(Entry.Body(Data(text.utf8), .text))
    }

    /// Reads the field `data` of an answer made in code: an index into ``data``.
    private func readData(_ member: Member) {
        guard let number = integer(member, "a number"), data.indices.contains(number) else { return }
        (fields.kind, fields.answer) = (.data, .inline(Entry.Body(data[number], .data)))
    }

    func readError(_ member: Member) { fields.answer = error(member).map { .error($0) } }

    func error(_ member: Member) -> URLError.Code? {
        guard let name = string(member, "a string, such as “timedOut”") else { return nil }
        guard let code = URLErrorNames.code(name) else {
            let other = "Use the name of a URLError.Code, such as “timedOut”."
            let names = URLErrorNames.all.map(\.name)
            let advice = NearestName.advice(on: Self.errorsByWord[name.lowercased()] ?? name, in: names, or: other)
            note(member, .invalidValue, "“error” can't be “\(name)”. \(advice)")
            return nil
        }
        return code
    }

    /// Common wrong names of errors, in lowercase, and the right names, which ``NearestName`` wouldn't find.
    private static let errorsByWord = [
        "offline": "notConnectedToInternet", "nointernet": "notConnectedToInternet",
        "connectionlost": "networkConnectionLost", "connectionrefused": "cannotConnectToHost",
    ]

    func readForwardTo(_ member: Member) {
        guard let text = string(member, "a string with an absolute URL") else { return }
        do throws(URLParts.SyntaxError) {
            fields.answer = .network(try ForwardTarget(text))
        } catch {
            note(member, .invalidValue, "“forwardTo” \(error.message)")
        }
    }

    func readHandler(_ member: Member) {
        // A handler in a map made in code has no name. In its place, the JSON has the handler's index.
        if case .number(let number) = json(member), let handler = Int(number.text).flatMap({ handlers[$0] }) {
            fields.answer = .handler(handler)
            return
        }
        guard let name = string(member, "a string with the name of a handler") else { return }
        do throws(SubstitutionMap.HandlerTable.UnknownName) {
            fields.answer = .handler(try handlers.handler(named: name))
        } catch {
            note(member, .invalidValue, error.message)
        }
    }

    func readAlternatives(_ member: Member) {
        guard member.kind == .array else {
            return note(member, .wrongType, "“alternatives” must be a list of file names and objects.")
        }
        readAlternatives(in: member.range, line: member.line, valueLine: member.valueLine)
    }

    private func readAlternatives(in range: Range<Int>, line: Int, valueLine: Int) {
        fields.kind = .alternatives
        let elements = elements(in: range, line: valueLine)
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

    private func readAlternative(_ element: Member, number: Int) {
        switch element.kind {
        case .string:
            fields.alternatives.append((element.line, EntryFields(file: element.text)))
        case .object:
            let reader = EntryFieldsReader(element, of: bytes, in: .alternative, data: data, handlers: handlers)
            for problem in reader.problems {
                note(problem.line, problem.kind, "Alternative \(number): \(problem.message)")
            }
            fields.alternatives.append((element.line, reader.fields))
        case .null:
            let advice = "Remove this alternative, or write null instead of the list."
            note(element.line, .wrongType, "Alternative \(number) can't be null, but a whole entry can. \(advice)")
        case .array, .number, .bool, .other:
            note(element.line, .wrongType, "Alternative \(number) must be a file name or an object.")
        }
    }

    /// Notes a problem if fields can't go together, or if the entry has no answer.
    private func checkWhatGoesTogether() {
        let answers = EntryFields.Field.answers.filter { lines[$0] != nil }
            .ordered { [lines] in lines[$0, default: 0] < lines[$1, default: 0] }
        if answers.count > 1 {
            return note(
                lines[answers[1]] ?? line,
                .conflict,
                "“\(answers[0])” and “\(answers[1])” can't go together. Keep one of them."
            )
        }
        guard let kind = fields.kind else {
            return note(
                line,
                .noFile,
                "The answer is missing. Add “file”, “json”, “text”, “stream”, “status”, “error”, “forwardTo” or “handler”."
            )
        }
        let answer = answers.first ?? (kind == .empty ? "status" : "setRequestHeaders")
        let refused = lines.filter { $0.key != answer && EntryFields.Field.named($0.key)?.allows(kind) == false }
        for (field, line) in refused.ordered(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            note(line, .conflict, "“\(field)” can't go with “\(answer)”\(kind.refusal(of: field))")
        }
        if refused.isEmpty, let conflict = EntryFields.Kind.conflict(of: fields) {
            note(lines[conflict.field] ?? line, .conflict, conflict.message)
        }
    }

    /// Returns whether a JSON value is nested too deeply. If it is, notes a problem.
    func isTooDeep(_ member: Member) -> Bool {
        let deepest = JSONValue.deepest
        let isTooDeep = bytes.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes, in: member.range, line: 1, isStrict: true, deepest: deepest)
            return (try? cursor.skip()) == nil
        }
        if isTooDeep {
            note(
                member,
                .invalidValue,
                "“\(member.key)” is nested more than \(deepest) levels deep. Use fewer levels, or put a body into a file."
            )
        }
        return isTooDeep
    }
}

/// Reads `headers` and `setRequestHeaders`.
extension EntryFieldsReader {
    func readHeaders(_ member: Member) {
        for (name, value) in validHeaders(of: member, areOfRequest: false) { fields.headers[name] = value }
    }

    func readRequestHeaders(_ member: Member) {
        if member.kind == .object, members(of: member).isEmpty {
            return note(member, .invalidValue, "“setRequestHeaders” is empty. Name a header, or remove the field.")
        }
        for (name, value) in validHeaders(of: member, areOfRequest: true) {
            fields.requestHeaders.updateValue(value, forKey: name)
        }
    }

    /// Returns an object's valid headers. Notes a problem for each other header.
    private func validHeaders(
        of member: Member,
        areOfRequest: Bool
    ) -> [(name: String, value: String?)] {
        var valid: [(name: String, value: String?)] = []
        for header in headers(of: member) {
            guard header.kind == .string || areOfRequest && header.kind == .null else {
                let expected = areOfRequest ? "a string, or null to remove it" : "a string"
                note(header, .wrongType, "The header “\(header.key)” must be \(expected).")
                continue
            }
            if let problem = HTTPSyntax.problem(
                ofHeader: header.key,
                value: header.text ?? "",
                isOfRequest: areOfRequest
            ) {
                note(header, .invalidHeader, problem)
            } else {
                valid.append((header.key, header.text))
            }
        }
        return valid
    }

    /// Returns the headers in an object. If a name is given twice, in any letter case, notes a problem and returns only
    /// the first.
    private func headers(of member: Member) -> [Member] {
        members(of: member, name: { $0.lowercased() }) { header, first in
            let how = first == header ? "twice" : "as “\(first)” too, and letter case doesn't matter"
            return "The header “\(header)” is given \(how). Keep one of them."
        }
    }

    /// Returns the members of an object. If two have the same name, notes a problem and returns only the first.
    ///
    /// - Parameters:
    ///   - name: Returns the form of a name that's compared, such as its lowercase letters.
    ///   - duplicate: Returns the message for a name that's given twice, from its second and its first spelling.
    private func members(
        of member: Member,
        name: (String) -> String,
        duplicate: (_ written: String, _ first: String) -> String
    ) -> [Member] {
        guard member.kind == .object else {
            note(member, .wrongType, "“\(member.key)” must be an object of names and values.")
            return []
        }
        var seen: [String: String] = [:]
        return members(of: member).filter { part in
            guard let first = seen.updateValue(part.key, forKey: name(part.key)) else { return true }
            note(part, .duplicate, duplicate(part.key, first))
            return false
        }
    }
}

/// Reads `when`.
extension EntryFieldsReader {
    func readWhen(_ member: Member) {
        guard member.kind == .object else {
            if let text = member.text, text.lowercased().contains("offline") {
                return note(member, .wrongType, "“when” can't be “\(text)”. Write \"use\": \"whenOffline\".")
            }
            return note(member, .wrongType, "“when” must be an object with “headers”, “query”, “json” or “text”.")
        }
        let conditions = members(of: member)
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

    private func read(_ part: Member, into condition: inout RequestCondition) {
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
            condition.json = json(part)
        case "text":
            guard let text = part.text else {
                return note(part, .wrongType, "“text” in “when” must be a string: the body, with * for any text.")
            }
            condition.text = Glob(text)
        default:
            let other = "Use “headers”, “query”, “json” or “text”."
            let advice = NearestName.advice(on: part.key, in: ["headers", "query", "json", "text"], or: other)
            note(part, .unknownField, "“when” can't have “\(part.key)”. \(advice)")
        }
    }

    private func conditions(
        _ members: [Member],
        of part: Member,
        name: (String) -> String,
        value: (String) -> Glob
    ) -> [RequestCondition.Field] {
        if members.isEmpty, part.kind == .object {
            note(
                part,
                .invalidValue,
                "“\(part.key)” in “when” is empty. Add a name and value, or remove “\(part.key)”."
            )
        }
        var fields: [RequestCondition.Field] = []
        for member in members {
            if member.kind == .string || member.kind == .null {
                fields.append(.init(name: name(member.key), value: member.text.map(value)))
            } else {
                let expected = "a string (* matches any text), or null to match requests without it"
                note(member, .wrongType, "“\(member.key)” in “when” must be \(expected).")
            }
        }
        return fields.ordered { $0.name < $1.name }
    }
}
