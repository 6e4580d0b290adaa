import LocalSubstitution

/// A review of patterns that can't do what was probably meant, and of keys that were probably meant as patterns.
struct PatternReview {
    private typealias Warning = SubstitutionMap.Warning

    private struct Item {
        let entry: Entry
        let pattern: MatchPattern
    }

    private let entries: [Entry]
    private let items: [Item]

    init(_ entries: [Entry]) {
        self.entries = entries.filter(\.options.isEnabled)
        items = self.entries.filter(\.isPattern).compactMap { entry in
            (try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery)).map { Item(entry: entry, pattern: $0) }
        }
    }

    var warnings: [SubstitutionMap.Warning] {
        neverWinning + items.flatMap { [missesQuery($0), catchesAll($0)].compactMap(\.self) }
            + entries.compactMap { foreignSyntax($0) }
    }

    /// Warnings about patterns that never win, because they can't make a file name, or because others that come first match all
    /// their URLs.
    ///
    /// Since a narrower pattern always comes first, the others can only be a pattern for the same URLs, with other runs of
    /// wildcards, or a pair of such patterns, one for each scheme.
    private var neverWinning: [Warning] {
        var firstByReach: [String: Entry] = [:]
        return items.compactMap { item in
            let first = firstByReach[Self.reach(item, scheme: item.pattern.scheme ?? "*")]
            firstByReach[Self.reach(item, scheme: item.pattern.scheme ?? "*")] = first ?? item.entry
            return whyNever(item, first, firstByReach).map { Warning(.neverWins, item.entry, "The pattern \($0)") }
        }
    }

    private func whyNever(_ item: Item, _ first: Entry?, _ firstByReach: [String: Entry]) -> String? {
        if let file = item.entry.file, (try? file.filled(with: Self.plainCaptures(file))) == nil {
            return
                "never applies: the file “\(file.text)” has an empty segment or one that begins with “.”. Correct the name."
        }
        if let first, first.answersAll(of: item.entry) {
            return "is shadowed by “\(first.key)”, which matches the same URLs. Remove one of them."
        }
        guard item.pattern.scheme == nil, let http = firstByReach[Self.reach(item, scheme: "http")],
            let https = firstByReach[Self.reach(item, scheme: "https")],
            http.answersAll(of: item.entry), https.answersAll(of: item.entry)
        else { return nil }
        return "is shadowed by “\(http.key)” and “\(https.key)”, which together match the same URLs. Remove it."
    }

    /// Returns a warning if a pattern ends in an extension: `https://h/*.png` doesn't match `https://h/a.png?v=1`.
    private func missesQuery(_ item: Item) -> Warning? {
        guard item.entry.options.ignoreQuery == nil, !item.entry.options.isNever,
            let end = item.pattern.path.literals.last, !end.isEmpty, item.pattern.path.wildcards > 0
        else { return nil }
        let text = item.pattern.path.text
        guard !text.utf8.contains(UInt8(ascii: "?")), let name = MIMEType.fileExtension(of: text) else { return nil }
        return Warning(
            .missesQuery,
            item.entry,
            "The pattern ends in “.\(name)”, so it doesn't match a URL with a query, such as …?v=1. "
                + "End it in “.\(name)*”, or add \"ignoreQuery\": true."
        )
    }

    private func catchesAll(_ item: Item) -> Warning? {
        guard item.entry.answering.contains(where: { $0.file?.text == "*" }) else { return nil }
        return Warning(
            .catchAll,
            item.entry,
            "The pattern serves every file in the resources folder. In an app's bundle, that includes the app's own files. "
                + "Serve a separate folder instead, such as “site/*”."
        )
    }

    private func foreignSyntax(_ entry: Entry) -> Warning? {
        guard !entry.options.isNever, let foreign = ForeignSyntax(entry.key) else { return nil }
        return Warning(
            .foreignSyntax,
            entry,
            "The key has “\(foreign.placeholder)”, but only * matches any text. Write “\(foreign.pattern)”."
        )
    }

    private static func reach(_ item: Item, scheme: String) -> String {
        let pattern = item.pattern
        let path = pattern.path.text.utf8.reduce(into: [UInt8]()) { path, byte in
            if byte != UInt8(ascii: "*") || path.last != byte { path.append(byte) }
        }
        return "\(scheme)://\(pattern.host)\(pattern.port)\(String(decoding: path, as: UTF8.self))"
    }

    private static func plainCaptures(_ file: FileName) -> [ArraySlice<UInt8>] {
        Array(repeating: ArraySlice("x".utf8), count: file.wildcards)
    }
}

extension Entry {
    /// Returns whether an entry answers every request for the same URLs that another one would answer, unless a file is missing.
    fileprivate func answersAll(of other: Entry) -> Bool {
        if options.isNever { return true }
        guard options.alternatives.isEmpty, options.when == nil, !other.options.isNever else { return false }
        return options.answersAllMethods
            || other.answering.allSatisfy { $0.options.methods.allSatisfy(options.methods.contains) }
    }
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
