package import LocalSubstitution

/// A review of a map. It finds what works, but probably isn't as it was meant.
package struct MapReview {
    typealias Warning = SubstitutionMap.Warning

    private let map: SubstitutionMap
    /// The entries that are enabled and aren't `null`.
    private let entries: [Entry]

    package init(_ map: SubstitutionMap) {
        self.map = map
        entries = map.entries.filter { $0.options.isEnabled && !$0.options.isNever }
    }

    /// The warnings, by line. Those about files that no entry names come last.
    ///
    /// This lists the resources folder, and reads the beginning of every file that an entry names.
    package var warnings: [SubstitutionMap.Warning] {
        let names = map.resources?.names(limit: .max) ?? []
        let known = Set(names)
        var found = PatternReview(map.entries).warnings + forwarding + methodsOfPatterns
        found += entries.compactMap { unusedTimeout($0) } + entries.flatMap { loading($0) } + longDelays
        found += entries.flatMap(\.answering).flatMap { entry in
            [methodCase(entry), contradiction(in: entry), letterCase(of: entry, known)].compactMap(\.self)
        }
        found.sort { ($0.line ?? 0, $0.kind.rawValue) < ($1.line ?? 0, $1.kind.rawValue) }
        return found + unused(names)
    }

    // MARK: What a cache alone can't answer

    private static let advice = "Attach the cache to the session. Otherwise, the default cache or the network answers."

    /// Returns warnings about what only an attached session answers.
    private func loading(_ entry: Entry) -> [Warning] {
        if entry.options.use == .whenOffline {
            return [Warning(.needsProtocol, entry, "The entry waits for the network to fail. \(Self.advice)")]
        }
        let fields = Entry.Options.protocolFieldNames.filter { name in
            entry.answering.contains { $0.options.protocolFields.contains(name) }
        }
        guard !fields.isEmpty else { return entry.answering.compactMap { refusal(of: $0) } }
        return [
            Warning(
                .needsProtocol,
                entry,
                "\(fields.map { "“\($0)”" }.listed()) \(fields.count == 1 ? "needs" : "need") an attached session. "
                    + "In other sessions, the default cache or the network answers."
            )
        ]
    }

    private func refusal(of entry: Entry) -> Warning? {
        // Methods in lowercase have a warning of their own.
        let methods = entry.options.methods.map { $0.uppercased() }
        if !methods.contains("GET"), !methods.contains("HEAD"), !entry.options.answersAllMethods {
            return Warning(
                .refusedByLoader,
                entry,
                "The loader doesn't ask a cache for \(methods.listed("or")). \(Self.advice)"
            )
        }
        return LoaderRules.refusal(ofStatus: entry.options.status, headers: entry.options.fields.headers).map {
            Warning(.refusedByLoader, entry, "\($0.message.capitalizedFirst). \(Self.advice)")
        }
    }

    // MARK: Fields

    private func methodCase(_ entry: Entry) -> Warning? {
        let wrong = entry.options.methods.filter { $0 != $0.uppercased() }
        guard !wrong.isEmpty else { return nil }
        let (names, fixes) = (wrong.map { "“\($0)”" }.listed(), wrong.map { "“\($0.uppercased())”" }.listed())
        return Warning(.methodCase, entry, "“methods” has \(names), but letter case matters. Write \(fixes).")
    }

    private func unusedTimeout(_ entry: Entry) -> Warning? {
        guard entry.options.fields.timeout != nil, entry.options.use != .whenOffline else { return nil }
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
                guard let delay = holder.options.fields.delay, delay > Self.longestUsualDelay,
                    ofEntry.insert(delay).inserted,
                    !holder.options.fields.inheritsDelay || inherited.insert(delay).inserted
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

    // MARK: Methods

    /// Warnings about patterns that answer a method which an exact key doesn't list. For that method, the key is passed over.
    private var methodsOfPatterns: [Warning] {
        var patterns = MatchPattern.Index()
        var hasPatterns = false
        for (number, entry) in entries.enumerated() where entry.isPattern {
            guard !Self.methods(of: entry).isSubset(of: ["GET", "HEAD"]), let pattern = try? MatchPattern(entry.key)
            else {
                continue
            }
            patterns.insert(pattern, number: number)
            hasPatterns = true
        }
        guard hasPatterns else { return [] }
        return entries.compactMap { entry in
            guard !entry.isPattern, let url = try? NormalizedURL(key: entry.key) else { return nil }
            let listed = Self.methods(of: entry)
            guard !listed.contains("*") else { return nil }
            for number in patterns.matches(url, ignoring: nil).map(\.number).sorted() {
                guard let method = Self.methods(of: entries[number]).subtracting(listed).min() else { continue }
                let what =
                    method == "*" ? "methods that this key doesn't list" : "\(method), which this key doesn't list"
                return Warning(
                    .methodOfPattern,
                    entry,
                    "“\(entries[number].key)” answers \(what). Add the methods that this key should answer to “methods”."
                )
            }
            return nil
        }
    }

    private static func methods(of entry: Entry) -> Set<String> {
        let methods = Set(entry.answering.flatMap(\.options.methods))
        return methods.contains("GET") ? methods.union(["HEAD"]) : methods
    }

    // MARK: Forwarding

    private var forwarding: [Warning] {
        let items = entries.flatMap(\.answering).compactMap { entry -> (entry: Entry, target: ForwardTarget)? in
            guard case .network(let target?) = entry.options.answer else { return nil }
            return (entry, target)
        }
        return items.compactMap { insecure($0.entry, $0.target) } + forwardedTargets(items)
    }

    private func insecure(_ entry: Entry, _ target: ForwardTarget) -> Warning? {
        guard !entry.key.lowercased().hasPrefix("http:"), target.origin.hasPrefix("http:"), !target.isLoopback else {
            return nil
        }
        return Warning(
            .insecureTarget,
            entry,
            "The entry forwards https requests to “\(target.origin)”, where anyone on the network can read them. Use https."
        )
    }

    /// Returns warnings about targets that other entries forward.
    private func forwardedTargets(_ items: [(entry: Entry, target: ForwardTarget)]) -> [Warning] {
        var patterns = MatchPattern.Index()
        var urls: [String: Int] = [:]
        for (number, item) in items.enumerated() {
            switch try? MapKey(item.entry.key) {
            case .pattern(let pattern): patterns.insert(pattern, number: number)
            case .url(let url): urls[url.canonical] = number
            case nil: break
            }
        }
        return items.compactMap { item in
            guard let example = item.target.example else { return nil }
            let number = urls[example.canonical] ?? patterns.matches(example, ignoring: nil).first?.number
            return number.map { number in
                Warning(
                    .forwardedTarget,
                    item.entry,
                    "The target “\(item.target.text)” is a URL that “\(items[number].entry.key)” forwards, but targets aren't "
                        + "looked up again. Write the URL where the request should end up."
                )
            }
        }
    }

    // MARK: Files

    private func contradiction(in entry: Entry) -> Warning? {
        guard let file = entry.file, file.wildcards == 0, let folder = map.resources,
            let start = try? folder.open(file.text).prefix(MIMEType.sniffedLength)
        else { return nil }
        let url = try? NormalizedURL(entry.key)
        let type = Substitution(entry, fileName: file.text, folder: folder, url: url).mimeType
        return MIMEType.contradicts(start, type: type).map {
            Warning(
                .contradictedType,
                entry,
                "The file “\(file.text)” is served as \(type), but its first bytes say otherwise: \($0)."
            )
        }
    }

    /// Returns a warning if a file's name differs from the one on disk in letter case. Where letter case matters, the file is
    /// missing, which is an error instead.
    private func letterCase(of entry: Entry, _ names: Set<String>) -> Warning? {
        guard let file = entry.file, file.wildcards == 0, !names.contains(file.text),
            let name = names.first(where: { $0.lowercased() == file.text.lowercased() })
        else { return nil }
        return Warning(
            .letterCase,
            entry,
            "The file “\(file.text)” is “\(name)” on disk, so it will be missing where letter case matters, such as on a device. "
                + "Correct the name."
        )
    }

    /// Returns warnings about the files that no entry names.
    ///
    /// A map's own folder may have the sources of an app, so only the folders in it that entries name are searched.
    private func unused(_ names: [String]) -> [Warning] {
        let files = map.entries.flatMap(\.answering).flatMap(\.files) + map.filesLeftOut
        let exact = Set(files.map(\.text))
        let globs = Set(files.filter { $0.wildcards > 0 }.map(\.text)).map { Glob(Array($0.utf8)) }
        let isForFiles = map.resources.map { $0.mapName == nil || $0.path.hasSuffix("/Resources") } ?? false
        let folders = Set(files.map(\.fixedFolder).filter { !$0.isEmpty })
        return names.compactMap { name in
            guard isForFiles || !folders.isDisjoint(with: ResourcesFolder.folders(of: name)) else { return nil }
            let isServed = !ResourcesFolder.isHidden(name.utf8) && name != map.resources?.mapName
            let bytes = Array(name.utf8)
            guard isServed, !exact.contains(name), !globs.contains(where: { $0.match(bytes[...]) != nil }) else {
                return nil
            }
            return Warning(
                .unusedFile,
                nil,
                "No entry names the file “\(name)” in the resources folder."
            )
        }
    }
}

extension ForwardTarget {
    /// The target with some text for each wildcard.
    fileprivate var example: NormalizedURL? {
        try? NormalizedURL(
            String(decoding: text.utf8.map { $0 == UInt8(ascii: "*") ? UInt8(ascii: "x") : $0 }, as: UTF8.self)
        )
    }

    /// Whether requests stay on this machine.
    fileprivate var isLoopback: Bool {
        guard let host = (try? NormalizedURL(origin + "/"))?.host else { return false }
        // All of 127.0.0.0/8 (RFC 1122 §3.2.1.3), but not host names that begin with “127.”.
        let isAddress = host.hasPrefix("127.") && host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        return isAddress || host == "[::1]" || host == "localhost" || host.hasSuffix(".localhost")
    }
}

/// A review of patterns that can't do what was probably meant, and of keys that were probably meant as patterns.
private struct PatternReview {
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
        guard options.alternatives.isEmpty, options.fields.when == nil, !other.options.isNever else { return false }
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
