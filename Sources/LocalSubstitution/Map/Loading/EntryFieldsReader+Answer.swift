import Foundation

/// Reads the fields that say what answers, and checks that the fields go together.
extension EntryFieldsReader {
    mutating func readJSON(_ member: JSONScanner.Member) {
        guard !isTooDeep(member) else { return }
        fields.body = InlineBody(Data(bytes[member.range]), .json)
    }

    mutating func readText(_ member: JSONScanner.Member) {
        guard let text: String = decode(member, "a string with the body") else { return }
        fields.body = InlineBody(Data(text.utf8), .text)
    }

    /// Reads the index of a body that was given in code.
    mutating func readData(_ member: JSONScanner.Member) {
        guard let number: Int = decode(member, "a number"), data.indices.contains(number) else { return }
        fields.body = InlineBody(data[number], .data)
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
        do throws(URLSyntaxError) {
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
        let answers = EntryKind.answers.filter { lines[$0] != nil }.sorted { (lines[$0] ?? 0) < (lines[$1] ?? 0) }
        if answers.count > 1 {
            return note(
                lines[answers[1]] ?? line,
                .conflict,
                "“\(answers[0])” and “\(answers[1])” can't go together. Keep one of them."
            )
        }
        guard let kind = EntryKind(fields) else {
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
        if refused.isEmpty, let conflict = EntryKind.conflict(of: fields) {
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
