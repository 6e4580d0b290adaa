import Foundation
import LocalSubstitution
import MapWriting

/// An entry's value in a map as it's written: its alternatives or, if it has none, the entry itself.
struct EntryText {
    /// An alternative, or an entry without alternatives.
    struct Answer {
        let text: String
        let members: MapText.Members

        /// The member's value as JSON; `nil` if it isn't written.
        subscript(name: String) -> String? { members.first { $0.key == name }?.value }

        /// Returns the members with another response. Members that say which requests are answered stay. So do members
        /// and headers that a recording never writes.
        ///
        /// - Parameter isFurther: Whether the result is an additional answer, after this one.
        func replacing(by response: MapText.Members, isFurther: Bool) -> MapText.Members {
            let staying = ["methods", "when", "delay", "use", "ignoreQuery"] + (isFurther ? [] : ["comment"])
            var new = response.filter { ["methods", "use", "ignoreQuery", "enabled"].contains($0.key) == false }
            let headers = EntryText.headers(self["headers"]).filter {
                !RecordedExchange.Headers.isKept($0.key.asciiLowercased)
            }
            if !headers.isEmpty {
                let all = EntryText.headers(new.first { $0.key == "headers" }?.value) + headers
                new.removeAll { $0.key == "headers" }
                new.append(("headers", JSONText.object(all)))
            }
            let kept = members.compactMap { old in
                staying.contains(old.key) ? old : new.first { $0.key == old.key }
            }
            return kept + new.filter { member in !kept.contains { $0.key == member.key } }
        }
    }

    let answers: [Answer]
    /// The entry's members other than `alternatives`; empty if it has no alternatives.
    let shared: MapText.Members
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]
    private let isList: Bool

    /// Returns `nil` for `null`, and for a value that no entry can have.
    ///
    /// - Parameter value: The entry's value, as JSON.
    init?(_ value: String) {
        bytes = Array(value.utf8)
        var list: Range<Int>?
        switch bytes.first {
        case UInt8(ascii: "\""), UInt8(ascii: "["):
            shared = []
            list = bytes.first == UInt8(ascii: "[") ? 0..<bytes.count : nil
        case UInt8(ascii: "{"):
            guard let members = try? JSONScanner(bytes).members() else { return nil }
            list = members.first { $0.key == "alternatives" }?.range
            shared = list == nil ? [] : Self.texts(members.filter { $0.key != "alternatives" }, in: bytes)
        default: return nil
        }
        isList = list != nil
        if let list {
            guard let elements = try? JSONScanner(Array(bytes[list])).elements() else { return nil }
            ranges = elements.map { $0.range.lowerBound + list.lowerBound..<$0.range.upperBound + list.lowerBound }
        } else {
            ranges = [0..<bytes.count]
        }
        var answers: [Answer] = []
        for range in ranges {
            let answer = Array(bytes[range])
            let text = String(decoding: answer, as: UTF8.self)
            if answer.first == UInt8(ascii: "\"") {
                answers.append(Answer(text: text, members: [("file", text)]))
            } else if let members = try? JSONScanner(answer).members() {
                answers.append(Answer(text: text, members: Self.texts(members, in: answer)))
            } else {
                return nil
            }
        }
        self.answers = answers
    }

    private static func texts(_ members: [JSONScanner.Member], in bytes: [UInt8]) -> MapText.Members {
        members.map { ($0.key, String(decoding: bytes[$0.range], as: UTF8.self)) }
    }

    private static func headers(_ value: String?) -> MapText.Members {
        let bytes = Array((value ?? "").utf8)
        return texts((try? JSONScanner(bytes).members()) ?? [], in: bytes)
    }

    /// Returns the entry's value with some answers replaced. All other text stays the same.
    ///
    /// - Parameters:
    ///   - new: The replacements of answers, by the answer's position from 0. At least one answer must remain.
    ///   - keepsLines: Whether all other text keeps its line numbers. No replacement may have more lines than the
    ///     answer that it replaces.
    func replacing(_ new: [Int: [MapText.Members]], keepsLines: Bool = false) -> String {
        // Alternatives have no “ignoreQuery”, so it moves to the entry.
        if !isList, let answers = new[0], answers.count > 1 { return MapText.value(of: answers) }
        var text: [UInt8] = []
        var copied = 0
        var isFirst = true
        for (place, range) in ranges.enumerated() {
            guard let answers = new[place] else {
                isFirst = false
                continue
            }
            if isFirst, answers.isEmpty, place + 1 < ranges.count {
                // Also removes the comma after a removed first answer.
                text += bytes[copied..<range.lowerBound]
                copied = ranges[place + 1].lowerBound
                continue
            }
            isFirst = false
            // Also removes the comma before any other removed answer.
            text += bytes[copied..<(answers.isEmpty && place > 0 ? ranges[place - 1].upperBound : range.lowerBound)]
            let written = answers.map { WrittenEntry.text($0) }.joined(separator: ",\n    ")
            text += written.utf8
            if keepsLines {
                let end = UInt8(ascii: "\n")
                let missing = bytes[range].count { $0 == end } - written.utf8.count { $0 == end }
                text += [UInt8](repeating: end, count: max(0, missing))
            }
            copied = range.upperBound
        }
        text += bytes[copied...]
        return String(decoding: text, as: UTF8.self)
    }
}
