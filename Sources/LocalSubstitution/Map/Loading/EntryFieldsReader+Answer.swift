import Foundation

/// Reads what answers a request, and checks what goes together with it.
extension EntryFieldsReader {
    mutating func readJSON(_ member: JSONScanner.Member) {
        guard !isTooDeep(member) else { return }
        fields.body = InlineBody(Data(bytes[member.range]), .json)
    }

    mutating func readText(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string, the body") else { return }
        fields.body = InlineBody(Data(text.utf8), .text)
    }

    /// Reads the number of a body that is made in code.
    mutating func readData(_ member: JSONScanner.Member) {
        guard let number: Int = decode(member, "a number"), data.indices.contains(number) else { return }
        fields.body = InlineBody(data[number], .data)
    }

    mutating func readError(_ member: JSONScanner.Member) {
        guard let name: String = decode(member, "a string, a code of URLError such as “timedOut”") else { return }
        guard let code = URLErrorNames.code(name) else {
            let nearest =
                Self.errorsByWord[name.lowercased()] ?? NearestName.of(name, in: URLErrorNames.all.map(\.name))
            let advice = nearest.map { "did you mean “\($0)”?" } ?? "write a code of URLError, such as “timedOut”"
            return note(member, .invalidValue, "“error” can't be “\(name)”: \(advice)")
        }
        fields.error = code
    }

    /// Common guesses that are spelled too differently from the right name for a suggestion by spelling.
    private static let errorsByWord = [
        "offline": "notConnectedToInternet", "nointernet": "notConnectedToInternet",
        "connectionlost": "networkConnectionLost", "connectionrefused": "cannotConnectToHost",
    ]

    mutating func readForwardTo(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string, an absolute URL") else { return }
        do throws(URLSyntaxError) {
            fields.forwardTo = try ForwardTarget(text)
        } catch {
            note(member, .invalidValue, "“forwardTo” \(error.message)")
        }
    }

    mutating func readAlternatives(_ member: JSONScanner.Member) {
        guard case .other(let range) = member.value, bytes[range.lowerBound] == UInt8(ascii: "[") else {
            return note(member, .wrongType, "“alternatives” must be a list of file names and objects")
        }
        readAlternatives(in: range, line: member.line)
    }

    mutating func readAlternatives(in range: Range<Int>, line: Int) {
        let elements = (try? JSONScanner(bytes, in: range, line: line).elements()) ?? []
        guard !elements.isEmpty else {
            return note(line, .wrongType, "has an empty list of alternatives: write a file name, an object, or null")
        }
        guard elements.count <= Self.mostAlternatives else {
            return note(line, .invalidValue, "has more than \(Self.mostAlternatives) alternatives: remove some")
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
                note(problem.line, problem.kind, "alternative \(number): \(problem.message)")
            }
            fields.alternatives.append((element.line, reader.fields))
        case .null:
            let advice = "null ends the search, so it must be the key's only value: remove it"
            note(element.line, .wrongType, "alternative \(number) can't be null: \(advice)")
        case .other:
            note(element.line, .wrongType, "alternative \(number) must be a file name or an object")
        }
    }

    /// Notes fields that contradict each other, or that nothing answers.
    mutating func checkWhatGoesTogether() {
        let answers = EntryKind.answers.filter { lines[$0] != nil }.sorted { (lines[$0] ?? 0) < (lines[$1] ?? 0) }
        if answers.count > 1 {
            return note(
                lines[answers[1]] ?? line,
                .conflict,
                "“\(answers[0])” and “\(answers[1])” can't go together: keep one of them"
            )
        }
        guard let kind = EntryKind(fields) else {
            return note(
                line,
                .noFile,
                "has nothing to answer with: add “file”, “json”, “text”, “status”, “error” or “forwardTo”"
            )
        }
        let answer = answers.first ?? (kind == .empty ? "status" : "setRequestHeaders")
        let refused = lines.filter { $0.key != answer && !kind.allows($0.key) }
        for (field, line) in refused.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            note(line, .conflict, "“\(field)” can't go with “\(answer)”: \(kind.refusal(of: field))")
        }
        if refused.isEmpty, let conflict = EntryKind.conflict(of: fields) {
            note(lines[conflict.field] ?? line, .conflict, conflict.message)
        }
    }

    /// Notes a JSON value that is nested too deeply.
    mutating func isTooDeep(_ member: JSONScanner.Member) -> Bool {
        let deepest = JSONValue.deepest
        let isTooDeep = bytes.withUnsafeBufferPointer { bytes in
            var cursor = JSONCursor(bytes, in: member.range, line: 1, isStrict: true, deepest: deepest)
            return (try? cursor.skip()) == nil
        }
        if isTooDeep {
            note(member, .invalidValue, "“\(member.key)” is nested more than \(deepest) levels deep: use a file")
        }
        return isTooDeep
    }
}
