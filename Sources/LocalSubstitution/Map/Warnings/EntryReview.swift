/// A review of what each entry says on its own: a key, methods and times that were probably meant otherwise.
struct EntryReview {
    private typealias Warning = SubstitutionMap.Warning

    private let entries: [Entry]

    init(_ entries: [Entry]) {
        self.entries = entries.filter { $0.options.isEnabled && !$0.options.isNever }
    }

    var warnings: [SubstitutionMap.Warning] {
        entries.compactMap { foreignSyntax($0) } + entries.flatMap(\.answering).compactMap { methodCase($0) }
            + entries.compactMap { unusedTimeout($0) } + longDelays
    }

    private func foreignSyntax(_ entry: Entry) -> Warning? {
        guard let foreign = ForeignSyntax(entry.key) else { return nil }
        return Warning(
            .foreignSyntax,
            entry,
            "The key has “\(foreign.placeholder)”, but only * matches any text. Write “\(foreign.pattern)”."
        )
    }

    private func methodCase(_ entry: Entry) -> Warning? {
        let wrong = entry.options.methods.filter { $0 != $0.uppercased() }
        guard !wrong.isEmpty else { return nil }
        let (names, fixes) = (wrong.map { "“\($0)”" }.listed(), wrong.map { "“\($0.uppercased())”" }.listed())
        return Warning(.methodCase, entry, "“methods” has \(names), but letter case matters. Write \(fixes).")
    }

    private func unusedTimeout(_ entry: Entry) -> Warning? {
        guard entry.options.timeout != nil, entry.options.use != .whenOffline else { return nil }
        return Warning(
            .unusedTimeout,
            entry,
            "“timeout” is only for entries that wait for the network to fail. "
                + "Add \"use\": \"whenOffline\", or remove “timeout”."
        )
    }

    /// Warnings about delays, once for each entry, and once for a delay of `$defaults`.
    private var longDelays: [Warning] {
        var inherited: Set<Double> = []
        return entries.flatMap { entry in
            var ofEntry: Set<Double> = []
            return ([entry] + entry.options.alternatives).compactMap { holder -> Warning? in
                guard let delay = holder.options.delay, delay > Self.longestUsualDelay, ofEntry.insert(delay).inserted,
                    !holder.options.inheritsDelay || inherited.insert(delay).inserted
                else { return nil }
                return Warning(
                    .longDelay,
                    holder,
                    "“delay” is \(delay.grouped) seconds. If milliseconds were meant, write \((delay / 1_000).grouped)."
                )
            }
        }
    }

    private static let longestUsualDelay = 60.0
}

/// A key with placeholders as routers, URI templates (RFC 6570) and regular expressions have them. A map takes them literally.
private struct ForeignSyntax {
    /// The first placeholder.
    let placeholder: String
    /// The key with wildcards instead.
    let pattern: String

    init?(_ key: String) {
        guard let parts = try? URLParts(key: key) else { return nil }
        let bytes = Array(key.utf8)
        var (first, isInPath) = (nil as ArraySlice<UInt8>?, true)
        var pattern = Array(bytes[..<parts.path.startIndex])
        var rest = bytes[parts.path.startIndex...]
        while let byte = rest.first {
            let isAtSegment = isInPath && pattern.last == UInt8(ascii: "/")
            let length = isAtSegment ? Self.parameter(rest) ?? Self.placeholder(rest) : Self.placeholder(rest)
            if let length {
                first = first ?? rest.prefix(length)
                if pattern.last != UInt8(ascii: "*") { pattern.append(UInt8(ascii: "*")) }
                rest = rest.dropFirst(length)
            } else {
                if byte == UInt8(ascii: "?") { isInPath = false }
                // The end of a regular expression, which matches no character.
                if !(byte == UInt8(ascii: "$") && rest.count == 1) { pattern.append(byte) }
                rest = rest.dropFirst()
            }
        }
        guard let first else { return nil }
        placeholder = String(decoding: first, as: UTF8.self)
        self.pattern = String(decoding: pattern, as: UTF8.self)
    }

    /// Returns the length of a segment such as `:id`.
    private static func parameter(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.first == UInt8(ascii: ":"), let length = name(text.dropFirst()) else { return nil }
        let next = text.dropFirst(1 + length).first
        return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?") ? 1 + length : nil
    }

    /// Returns the length of text such as `{id}`, `\d+` or `(\d+)`.
    private static func placeholder(_ text: ArraySlice<UInt8>) -> Int? {
        switch text.first {
        case UInt8(ascii: "{"):
            guard let length = name(text.dropFirst()), text.dropFirst(1 + length).first == UInt8(ascii: "}") else {
                return nil
            }
            return 2 + length
        case UInt8(ascii: "("):
            guard let length = characterClass(text.dropFirst()), text.dropFirst(1 + length).first == UInt8(ascii: ")")
            else { return nil }
            return 2 + length
        default: return characterClass(text)
        }
    }

    /// Returns the length of a name of letters, digits, hyphens and underscores that begins with a letter.
    private static func name(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.first?.isLetter == true else { return nil }
        return text.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }.count
    }

    /// Returns the length of a regular expression's `\d`, `\w` or `\s`, or the like in uppercase, with its quantifier.
    private static func characterClass(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.first == UInt8(ascii: "\\"), let letter = text.dropFirst().first, "dDwWsS".utf8.contains(letter)
        else { return nil }
        let rest = text.dropFirst(2)
        switch rest.first {
        case UInt8(ascii: "+"), UInt8(ascii: "*"): return 3
        case UInt8(ascii: "{"):
            let count = rest.dropFirst().prefix { $0.isDigit || $0 == UInt8(ascii: ",") }.count
            return rest.dropFirst(1 + count).first == UInt8(ascii: "}") ? 4 + count : 2
        default: return 2
        }
    }
}
