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
        let fields = EntryOptions.protocolFieldNames.filter { name in
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
        return LoaderRules.refusal(ofStatus: entry.options.status, headers: entry.options.headers).map {
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

    // MARK: Methods

    /// Warnings about patterns that answer a method which an exact key doesn't list. For that method, the key is passed over.
    private var methodsOfPatterns: [Warning] {
        var patterns = PatternIndex()
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
        var patterns = PatternIndex()
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
        let files = map.entries.flatMap(\.answering).compactMap(\.file) + map.filesLeftOut
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
