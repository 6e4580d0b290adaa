import Foundation

/// Reads `stream`.
extension EntryFieldsReader {
    private static let mostPieces = 10_000

    func readStream(_ member: Member) {
        guard member.kind == .array else {
            return note(member, .wrongType, "“stream” must be a list of pieces, such as [\"data: a\\n\\n\"].")
        }
        let elements = elements(of: member)
        guard !elements.isEmpty else {
            return note(member, .invalidValue, "“stream” is empty. Add a piece, or answer with \"text\": \"\".")
        }
        guard elements.count <= Self.mostPieces else {
            return note(
                member,
                .invalidValue,
                "“stream” has more than \(Self.mostPieces.grouped) pieces. Join some, or use a file with “secondsPerEvent”."
            )
        }
        var pieces: [Entry.Piece] = []
        for (index, element) in elements.enumerated() {
            // An empty piece takes the place of an invalid piece, so that later pieces keep their numbers.
            let piece = piece(element, number: index + 1) ?? Entry.Piece(content: .data(Data()))
            if case .error = piece.content, index + 1 < elements.count {
                note(
                    element.line,
                    .conflict,
                    "Piece \(index + 1): “error” ends the stream. Make it the last piece."
                )
            }
            pieces.append(piece)
        }
        fields.answer = .stream(pieces)
    }

    /// Reads a piece: a string, or an object with one content and an optional delay. For any other piece, notes a
    /// problem and returns `nil`.
    private func piece(_ element: Member, number: Int) -> Entry.Piece? {
        if let text = element.text { return Entry.Piece(content: .data(Data(text.utf8)), line: element.line) }
        guard element.kind == .object else {
            note(
                element.line,
                .wrongType,
                "Piece \(number) must be a string, or an object with “text”, “json”, “file” or “error”."
            )
            return nil
        }
        prefix = "Piece \(number): "
        defer { prefix = "" }
        return piece(in: element.range, line: element.line)
    }

    private func piece(in range: Range<Int>, line: Int) -> Entry.Piece? {
        var content: (name: String, value: Entry.Piece.Content?)?
        var delay: Double?
        var seen: Set<String> = []
        for member in members(in: range, line: line) {
            guard seen.insert(member.key).inserted else {
                note(member, .duplicate, "The field “\(member.key)” is given twice. Keep one.")
                continue
            }
            if member.key == "delay" {
                delay = seconds(member)
            } else if !Self.pieceContents.contains(member.key) {
                let other = "Use “text”, “json”, “file”, “error” or “delay”."
                let advice = NearestName.advice(on: member.key, in: Self.pieceContents + ["delay"], or: other)
                note(member, .unknownField, "The field “\(member.key)” is unknown. \(advice)")
            } else if let first = content?.name {
                note(member, .conflict, "“\(first)” and “\(member.key)” can't go together. Make them two pieces.")
            } else {
                content = (member.key, pieceContent(member))
            }
        }
        guard let content else {
            note(line, .noFile, "The content is missing. Add “text”, “json”, “file” or “error”.")
            return nil
        }
        return content.value.map { Entry.Piece(content: $0, delay: delay ?? 0, line: line) }
    }

    private static let pieceContents = ["text", "json", "file", "error"]

    private func pieceContent(_ member: Member) -> Entry.Piece.Content? {
        switch member.key {
        case "text": string(member, "a string").map { .data(Data($0.utf8)) }
        case "json": isTooDeep(member) ? nil : .data(Data(bytes[member.range]))
        case "file": string(member, "a string with the name of a file").map { .file(FileName(text: $0)) }
        default: error(member).map { .error($0) }
        }
    }
}
