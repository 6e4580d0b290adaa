package import Foundation
import HTTPSyntax

/// A reader of the fields of an entry, an alternative, a piece of a stream, `$defaults` or a handler's answer. It notes
/// every problem.
package final class EntryFieldsReader {
    typealias Member = JSONScanner.Member

    package internal(set) var fields = EntryFields()
    package private(set) var problems: [(line: Int, kind: SubstitutionMap.Problem.Kind, message: String)] = []
    /// The line of each of the object's fields, for problems that are found after all fields are read.
    private var lines: [String: Int] = [:]

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
        // The first field of a piece that sets its content.
        var content: String?
        for member in members(in: range, line: valueLine ?? line) {
            guard lines.updateValue(member.line, forKey: member.key) == nil else {
                note(member, .duplicate, "The field “\(member.key)” is given twice. Keep one.")
                continue
            }
            if let field = EntryFields.Field.named(member.key, in: place) {
                if let refusal = field.refusal(in: place, isInCode: line == 0) {
                    note(member, .conflict, refusal)
                } else if field.answer != nil, let content {
                    note(member, .conflict, "“\(content)” and “\(member.key)” can't go together. Make them two pieces.")
                } else {
                    if place == .piece, field.answer != nil { content = member.key }
                    fields.kind = field.answer ?? fields.kind
                    field.read(self, member)
                }
            } else if member.key == "data", !data.isEmpty {
                readData(member)
            } else {
                let advice = EntryFields.Field.advice(on: member.key, in: place)
                note(member, .unknownField, "The field “\(member.key)” is unknown. \(advice)")
            }
        }
        if fields.kind == nil, place == .piece {
            note(line, .noFile, "The content is missing. Add “text”, “base64”, “json”, “file” or “error”.")
            return
        }
        if fields.kind == nil, fields.status != nil {
            fields.kind = .empty
        } else if fields.kind == nil, !fields.requestHeaders.isEmpty {
            (fields.kind, fields.answer) = (.network, .network(nil))
        }
        if problems.isEmpty, place != .defaults { checkWhatGoesTogether() }
    }

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

    /// The object's line if the field isn't set; `nil` for a map made in code.
    func lineInMap(_ field: String) -> Int? { line > 0 ? lines[field] ?? line : nil }

    // MARK: Fields with a value

    func readIgnoreQuery(_ member: Member) {
        if let all = bool(member) {
            // `false` becomes a rule without names, not an unset field, so that it overrides a default of `true`.
            fields.ignoreQuery = Query.Ignored(names: all ? nil : [])
            return
        }
        let names = strings(member, "true, false or a list of parameter names") { names in
            names.first { $0.isEmpty || $0.dropLast().contains("*") }
                .map { "“ignoreQuery” can't have “\($0)”. Write a parameter's name, which may end in *." }
        }
        fields.ignoreQuery = names.map { Query.Ignored(names: $0.ordered(by: <)) }
    }

    func readUse(_ member: Member) {
        let name = string(member, "a string, such as “always”") { name in
            guard Substitution.Use(rawValue: name) == nil else { return nil }
            let names = Substitution.Use.allCases.map(\.rawValue)
            let other = "Use “always”, “untilUpdated” or “whenOffline”."
            return "“use” can't be “\(name)”. \(NearestName.advice(on: name, in: names, or: other))"
        }
        fields.use = name.flatMap { Substitution.Use(rawValue: $0) }
    }

    func readMethods(_ member: Member) {
        fields.methods = strings(member, "a list of HTTP methods, such as [\"GET\"]") { methods in
            if methods.isEmpty { return "“methods” is empty. Name at least one HTTP method, such as [\"GET\"]." }
            if let wrong = methods.first(where: { !HTTPSyntax.isToken($0) }) {
                return "“\(wrong)” isn't an HTTP method. Use one such as “GET”."
            }
            guard methods.count > 1, methods.contains("*") else { return nil }
            return "“methods” lists * and other methods. Write [\"*\"] for all methods, or remove the *."
        }
    }

    /// Notes a problem if there's already a rate.
    func set(_ rate: Rate?, _ member: Member) {
        guard let rate else { return }
        guard fields.rate == nil else {
            let advice = "Keep only one of bytesPerSecond, secondsPerLine and secondsPerEvent."
            return note(member, .conflict, "“\(member.key)” can't go with another rate. \(advice)")
        }
        fields.rate = rate
    }

    // MARK: Values of a type

    // Each function returns a field's value. For a value of another type, and for one with a problem, it notes that and
    // returns `nil`. `expected` is the type in words, and `problem` returns a problem's message. It's optional since
    // the compiler would copy the functions for each closure.

    func string(_ member: Member, _ expected: String, _ problem: ((String) -> String?)? = nil) -> String? {
        checked(member.text, member, expected, problem)
    }

    func bool(_ member: Member, _ expected: String) -> Bool? { checked(bool(member), member, expected) }

    func number(_ member: Member, _ expected: String, _ problem: ((Double) -> String?)?) -> Double? {
        let number = numberText(member).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
        return checked(number, member, expected, problem)
    }

    /// Returns a number of seconds from 0 to 3600.
    func seconds(_ member: Member) -> Double? {
        let expected = "a number of seconds from 0 to 3600"
        return number(member, expected) { 0...3600 ~= $0 ? nil : "“\(member.key)” must be \(expected)." }
    }

    /// A number such as `1e2` or `4.0` is an integer, too.
    func integer(_ member: Member, _ expected: String, _ problem: ((Int) -> String?)? = nil) -> Int? {
        let integer = numberText(member).flatMap { Int($0) ?? Double($0).flatMap { Int(exactly: $0) } }
        return checked(integer, member, expected, problem)
    }

    /// - Parameter expected: The range in words.
    func integer(_ member: Member, _ expected: String, in range: ClosedRange<Int>) -> Int? {
        integer(member, expected) { range ~= $0 ? nil : "“\(member.key)” must be \(expected)." }
    }

    private func strings(_ member: Member, _ expected: String, _ problem: (([String]) -> String?)?) -> [String]? {
        let elements = member.kind == .array ? elements(of: member) : nil
        let strings = elements?.compactMap(\.text)
        return checked(strings?.count == elements?.count ? strings : nil, member, expected, problem)
    }

    private func checked<Value>(
        _ value: Value?,
        _ member: Member,
        _ expected: String,
        _ problem: ((Value) -> String?)? = nil
    ) -> Value? {
        guard let value else {
            noteType(member, expected)
            return nil
        }
        guard let problem = problem?(value) else { return value }
        note(member, .invalidValue, problem)
        return nil
    }

    private func noteType(_ member: Member, _ expected: String) {
        note(member, .wrongType, "“\(member.key)” must be \(expected).")
    }

    private func bool(_ member: Member) -> Bool? {
        member.kind == .bool ? bytes[member.range.lowerBound] == UInt8(ascii: "t") : nil
    }

    private func numberText(_ member: Member) -> String? {
        member.kind == .number ? String(decoding: bytes[member.range], as: UTF8.self) : nil
    }

    /// The syntax is valid, since the scan of the whole map has checked it.
    func members(in range: Range<Int>, line: Int) -> [Member] {
        (try? JSONScanner(bytes, in: range, line: line).members()) ?? []
    }

    func elements(in range: Range<Int>, line: Int) -> [Member] {
        (try? JSONScanner(bytes, in: range, line: line).elements()) ?? []
    }

    /// Empty for a value that isn't an object.
    func members(of member: Member) -> [Member] { members(in: member.range, line: member.valueLine) }

    /// Empty for a value that isn't an array.
    func elements(of member: Member) -> [Member] { elements(in: member.range, line: member.valueLine) }

    func note(_ member: Member, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        note(member.line, kind, message)
    }

    // Not inlined, since the compiler would copy it into all of its many callers, for problems that are rare.
    @inline(never)
    func note(_ line: Int, _ kind: SubstitutionMap.Problem.Kind, _ message: String) {
        problems.append((line, kind, message))
    }

    /// - Parameter name: The part's name in messages, such as “Piece 2”.
    private func note(_ part: EntryFieldsReader, _ name: String) {
        for problem in part.problems { note(problem.line, problem.kind, "\(name): \(problem.message)") }
    }
}

/// Reads the fields that set the answer, and checks that the fields don't conflict.
extension EntryFieldsReader {
    func readJSON(_ member: Member) {
        guard !isTooDeep(member) else { return }
        fields.answer = .inline(Entry.Body(Data(bytes[member.range]), .json))
    }

    func readBase64(_ member: Member) {
        let text = string(member, "a string with bytes in base64") { text in
            guard Data(base64Encoded: text) == nil else { return nil }
            return "“base64” isn't valid. Use A–Z, a–z, 0–9, + and /, and add = until the length is a multiple of 4."
        }
        fields.answer = text.flatMap { Data(base64Encoded: $0) }.map { .inline(Entry.Body($0, .data)) }
    }

    /// Reads the field `data` of an answer made in code: an index into ``data``.
    private func readData(_ member: Member) {
        guard let number = integer(member, "a number"), data.indices.contains(number) else { return }
        (fields.kind, fields.answer) = (.data, .inline(Entry.Body(data[number], .data)))
    }

    func readError(_ member: Member) {
        if let number = numberText(member).flatMap({ Int($0) }),
            let name = URLErrors.all.first(where: { $0.code.rawValue == number })?.name
        {
            return note(member, .wrongType, "“error” must be a string. Write \(JSONText.string(name)).")
        }
        let name = string(member, "a string, such as “timedOut”") { name in
            guard URLErrors.code(name) == nil else { return nil }
            let other = "Use the name of a URLError.Code, such as “timedOut”."
            let names = URLErrors.all.map(\.name)
            let advice = NearestName.advice(on: Self.errorsByWord[name.lowercased()] ?? name, in: names, or: other)
            return "“error” can't be “\(name)”. \(advice)"
        }
        fields.answer = name.flatMap { URLErrors.code($0) }.map { .error($0) }
    }

    /// Common wrong names of errors, in lowercase, and the right names, which ``NearestName`` wouldn't find.
    private static let errorsByWord = [
        "offline": "notConnectedToInternet", "nointernet": "notConnectedToInternet",
        "connectionlost": "networkConnectionLost", "connectionrefused": "cannotConnectToHost",
    ]

    func readForwardTo(_ member: Member) {
        guard let text = string(member, "a string with an absolute URL") else { return }
        do throws(Complaint) {
            fields.answer = .network(try ForwardTarget(text))
        } catch {
            note(member, .invalidValue, "“forwardTo” \(error)")
        }
    }

    func readHandler(_ member: Member) {
        // A handler in a map made in code has no name. In its place, the JSON has the handler's index.
        if let number = numberText(member), let handler = Int(number).flatMap({ handlers[$0] }) {
            fields.answer = .handler(handler)
            return
        }
        guard let name = string(member, "a string with the name of a handler", handlers.problem(withName:)) else {
            return
        }
        fields.answer = .handler(handlers.handler(named: name))
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

    package static let mostAlternatives = 10_000

    private func readAlternative(_ element: Member, number: Int) {
        switch element.kind {
        case .string:
            fields.alternatives.append((element.line, EntryFields(file: element.text)))
        case .object:
            let reader = EntryFieldsReader(element, of: bytes, in: .alternative, data: data, handlers: handlers)
            note(reader, "Alternative \(number)")
            fields.alternatives.append((element.line, reader.fields))
        case .null:
            let advice = "Remove this alternative, or write null instead of the list."
            note(element.line, .wrongType, "Alternative \(number) can't be null, but a whole entry can. \(advice)")
        case .array, .number, .bool, .other:
            note(element.line, .wrongType, "Alternative \(number) must be a file name or an object.")
        }
    }

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
        let refused = EntryFields.Field.all.filter { $0.name != answer && !$0.allows(kind) && lines[$0.name] != nil }
            .map(\.name).ordered { [lines] in (lines[$0, default: 0], $0) < (lines[$1, default: 0], $1) }
        for field in refused {
            note(lines[field] ?? line, .conflict, "“\(field)” can't go with “\(answer)”\(kind.refusal(of: field))")
        }
        if refused.isEmpty, let conflict = EntryFields.Kind.conflict(of: fields) {
            note(lines[conflict.field] ?? line, .conflict, conflict.message)
        }
    }

    /// Notes a problem if the value is too deep.
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

/// Reads `stream`.
extension EntryFieldsReader {
    private static let mostPieces = 10_000

    func readStream(_ member: Member) {
        guard member.kind == .array else {
            return note(member, .wrongType, "“stream” must be a list of pieces, such as [\"data: a\\n\\n\"].")
        }
        let elements = elements(of: member)
        guard !elements.isEmpty else {
            return note(member, .invalidValue, "“stream” is empty. Add a piece, or use \"text\": \"\".")
        }
        guard elements.count <= Self.mostPieces else {
            return note(
                member,
                .invalidValue,
                "“stream” has more than \(Self.mostPieces.grouped) pieces. Join some, or use a file with “secondsPerEvent”."
            )
        }
        let pieces = elements.enumerated().map { piece($1, number: $0 + 1, isLast: $0 + 1 == elements.count) }
        fields.answer = .stream(pieces)
    }

    /// Reads a piece: a string, or an object with one content and an optional delay. If it's invalid, notes problems
    /// and returns a piece without its content, so that later pieces keep their numbers.
    private func piece(_ element: Member, number: Int, isLast: Bool) -> Entry.Piece {
        var piece = Entry.Piece(content: .data(Data(utf8: element.text ?? "")), line: element.line)
        guard element.text == nil else { return piece }
        guard element.kind == .object else {
            let fields = "“text”, “base64”, “json”, “file” or “error”"
            note(element.line, .wrongType, "Piece \(number) must be a string, or an object with \(fields).")
            return piece
        }
        let reader = EntryFieldsReader(element, of: bytes, in: .piece)
        note(reader, "Piece \(number)")
        piece.delay = reader.fields.delay ?? 0
        switch reader.fields.answer {
        case .inline(let body): piece.content = .data(body.data)
        case .error(let code):
            piece.content = .error(code)
            let message = "Piece \(number): “error” ends the stream. Make it the last piece."
            if !isLast { note(element.line, .conflict, message) }
        default: if let file = reader.fields.file { piece.content = .file(FileName(text: file)) }
        }
        return piece
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
        fields.requestHeaders = validHeaders(of: member, areOfRequest: true)
    }

    /// Notes a problem for each invalid header, and leaves it out.
    private func validHeaders(
        of member: Member,
        areOfRequest: Bool
    ) -> [(name: String, value: String?)] {
        var valid: [(name: String, value: String?)] = []
        for header in named(member) {
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
    ///
    /// - Parameter areParameters: Whether the members are query parameters, whose names are compared in normal form.
    private func named(_ member: Member, areParameters: Bool = false) -> [Member] {
        guard member.kind == .object else {
            note(member, .wrongType, "“\(member.key)” must be an object of names and values.")
            return []
        }
        var firsts: [String: String] = [:]
        var kept: [Member] = []
        for part in members(of: member) {
            let form = areParameters ? Query.normalizedName(part.key) : part.key.asciiLowercased
            if let first = firsts.updateValue(part.key, forKey: form) {
                let how = first == part.key ? "twice" : "as “\(first)” too, and letter case doesn't matter"
                note(
                    part,
                    .duplicate,
                    areParameters
                        ? "The parameter “\(part.key)” is given twice. Keep one."
                        : "The header “\(part.key)” is given \(how). Keep one of them."
                )
            } else {
                kept.append(part)
            }
        }
        return kept
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
        var (headers, query): ([RequestCondition.Field], [RequestCondition.Field]) = ([], [])
        var json: JSONValue?
        var text: Glob?
        var seen: Set<String> = []
        for part in conditions {
            guard seen.insert(part.key).inserted else {
                note(part, .duplicate, "“when” has “\(part.key)” twice. Keep one.")
                continue
            }
            switch part.key {
            case "headers":
                headers = fields(named(part), of: part, areParameters: false)
            case "query":
                query = fields(named(part, areParameters: true), of: part, areParameters: true)
            case "json":
                json = isTooDeep(part) ? nil : JSONValue(String(decoding: bytes[part.range], as: UTF8.self))
            case "text":
                if part.text == nil {
                    note(part, .wrongType, "“text” in “when” must be a string: the body, with * for any text.")
                }
                text = part.text.map { Glob($0) }
            default:
                let other = "Use “headers”, “query”, “json” or “text”."
                let advice = NearestName.advice(on: part.key, in: ["headers", "query", "json", "text"], or: other)
                note(part, .unknownField, "“when” can't have “\(part.key)”. \(advice)")
            }
        }
        fields.when = RequestCondition(headers: headers, query: query, json: json, text: text)
    }

    private func fields(_ members: [Member], of part: Member, areParameters: Bool) -> [RequestCondition.Field] {
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
                let name = areParameters ? Query.normalizedName(member.key) : member.key
                let value = member.text.map { areParameters ? Query.normalizedValue($0) : Glob(escaped: $0) }
                fields.append(.init(name: name, value: value))
            } else {
                let expected = "a string (* matches any text), or null to match requests without it"
                note(member, .wrongType, "“\(member.key)” in “when” must be \(expected).")
            }
        }
        return fields.ordered { $0.name < $1.name }
    }
}
