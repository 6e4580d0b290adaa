/// A review of patterns that can't do what was probably meant.
struct PatternReview {
    private typealias Warning = SubstitutionMap.Warning

    private struct Item {
        let entry: Entry
        let pattern: MatchPattern
    }

    private let items: [Item]

    init(_ entries: [Entry]) {
        items = entries.filter { $0.isPattern && $0.options.isEnabled }.compactMap { entry in
            (try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery)).map { Item(entry: entry, pattern: $0) }
        }
    }

    var warnings: [SubstitutionMap.Warning] {
        neverWinning + items.compactMap { missesQuery($0) } + items.compactMap { catchesAll($0) }
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
