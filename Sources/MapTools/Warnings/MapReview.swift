import Foundation
package import LocalSubstitution
import MapWriting

/// A review of a map. It finds entries and files that are valid, but probably not as intended.
package struct MapReview {
    typealias Warning = SubstitutionMap.Warning

    private let map: SubstitutionMap
    /// The entries that are enabled and aren't `null`.
    private let entries: [Entry]
    /// The patterns of the enabled entries, including `null` entries.
    private let patterns: [(entry: Entry, pattern: MatchPattern)]

    package init(_ map: SubstitutionMap) {
        self.map = map
        let enabled = map.entries.filter(\.options.isEnabled)
        entries = enabled.filter { !$0.options.isNever }
        patterns = enabled.filter(\.isPattern).compactMap { entry in
            (try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery)).map { (entry, $0) }
        }
    }

    /// The warnings, sorted by line. Warnings about unused files come last. A map that needs a newer version of the
    /// library has none.
    ///
    /// Reading this lists the resources folder, and reads the beginning of every file that an entry
    /// names without wildcards.
    package var warnings: [SubstitutionMap.Warning] {
        guard map.newerVersion == nil else { return [] }
        let names = map.resources?.names(limit: .max) ?? []
        let known = Set(names)
        let responding = entries.flatMap(\.responding)
        var found = neverWinning + longDelays + entries.flatMap { needingSession($0) }
        found += warn(.noEffect, entries, unusedTimeout) + warn(.catchAll, patterns.map(\.entry), catchesAll)
        found += warn(.noEffect, responding, lowercaseMethod)
        found += warn(.foreignSyntax, entries, foreignSyntax) + warn(.contradictedType, responding, contradiction)
        found += responding.flatMap { letterCases(of: $0, known) }
        found.sort { ($0.line ?? 0, $0.kind.rawValue) < ($1.line ?? 0, $1.kind.rawValue) }
        return found + unused(names)
    }

    /// If `message` returns `nil`, the entry gets no warning.
    private func warn(_ kind: Warning.Kind, _ entries: [Entry], _ message: (Entry) -> String?) -> [Warning] {
        entries.compactMap { entry in message(entry).map { Warning(kind, entry, $0) } }
    }

    // MARK: What needs an attached session

    private static let advice = "Attach the cache to the session. Otherwise, the default cache or the network responds."

    /// Warnings about the answers of an entry that only an attached session gets.
    private func needingSession(_ entry: Entry) -> [Warning] {
        func warning(_ entry: Entry, _ message: String) -> Warning {
            Warning(.noEffect, entry, message, needsAttachedSession: true)
        }
        if entry.options.use == .whenOffline {
            let problem = "“whenOffline” waits for the network to fail, which only an attached session notices."
            return [warning(entry, "\(problem) Attach the cache to the session.")]
        }
        let fields = Entry.Options.protocolFieldNames.filter { name in
            entry.responding.contains { $0.options.protocolFields.contains(name) }
        }
        guard !fields.isEmpty else {
            return entry.responding.compactMap { answer in refusal(of: answer).map { warning(answer, $0) } }
        }
        let need = "\(fields.map { "“\($0)”" }.listed()) \(fields.count == 1 ? "needs" : "need")"
        let others = "In other sessions, the default cache or the network responds. Attach the cache to the session."
        return [warning(entry, "\(need) an attached session. \(others)")]
    }

    /// Returns why URLSession rejects an entry's response from a cache, and what to do; `nil` if it doesn't.
    private func refusal(of entry: Entry) -> String? {
        // An entry for “get” has another mistake: letter case matters. Attaching the cache doesn't help.
        let methods = entry.options.methods.map { $0.uppercased() }
        if !methods.contains("GET"), !methods.contains("HEAD"), !entry.options.answersAllMethods {
            return "URLSession doesn't ask a cache for \(methods.listed("or")) requests. \(Self.advice)"
        }
        guard case .refused(let reason)? = entry.options.cacheOnlyObstacle else { return nil }
        return "\(reason.capitalizedFirst). \(Self.advice)"
    }

    // MARK: Fields

    private func unusedTimeout(_ entry: Entry) -> String? {
        guard entry.options.fields.timeout != nil, entry.options.use != .whenOffline else { return nil }
        return "“timeout” is only for entries that wait for the network to fail. "
            + "Add \"use\": \"whenOffline\", or remove “timeout”."
    }

    private func lowercaseMethod(_ entry: Entry) -> String? {
        let wrong = entry.options.methods.first { method in
            !Self.uppercaseMethods.contains(method) && Self.uppercaseMethods.contains(method.uppercased())
        }
        return wrong.map {
            "“\($0)” in “methods” isn't \($0.uppercased()), since letter case matters. Write “\($0.uppercased())”."
        }
    }

    /// The methods that clients send in uppercase, however they're written. (A browser's `fetch` sends `patch` as written.)
    private static let uppercaseMethods: Set = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]

    /// Warnings about delays over 60 seconds. A delay is reported once for each entry, even if several alternatives
    /// have it, and a delay of `$defaults` only once for all entries.
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

    // MARK: Files

    private func contradiction(in entry: Entry) -> String? {
        guard let file = entry.file, !file.hasWildcards, let folder = map.resources,
            let start = try? folder.open(file.text).prefix(MIMEType.sniffedLength)
        else { return nil }
        let url = try? NormalizedURL(entry.key)
        let type = Substitution(entry, fileName: file.text, folder: folder, url: url).mimeType
        return MIMEType.contradicts(start, type: type).map {
            "The file “\(file.text)” is served as \(type), but its first bytes say otherwise: \($0). "
                + "Replace the file, or set “mimeType”."
        }
    }

    /// Returns warnings about file names that differ from the name on disk only in letter case. Where letter case
    /// matters, the file is missing, which is an error instead of a warning.
    private func letterCases(of entry: Entry, _ names: Set<String>) -> [Warning] {
        entry.files.compactMap { file in
            guard !file.hasWildcards, !names.contains(file.text),
                let name = names.first(where: { $0.lowercased() == file.text.lowercased() })
            else { return nil }
            return Warning(
                .letterCase,
                entry,
                "The file “\(file.text)” is “\(name)” on disk, so it will be missing where letter case matters, such as on a device. "
                    + "Correct the name."
            )
        }
    }

    /// Returns warnings about files in the resources folder that no entry uses, either in this map or in another map in its
    /// folder.
    ///
    /// If the resources folder is the map's own folder, it may contain the sources of an app, unless it has the name of
    /// a resources folder. Then only the folders that entries use are searched.
    private func unused(_ names: [String]) -> [Warning] {
        let files = map.entries.flatMap(\.responding).flatMap(\.files) + map.filesLeftOut
        let exact = Set(files.map(\.text))
        let globs = Set(files.filter(\.hasWildcards).map(\.text)).map { Glob(Array($0.utf8)) }
        let isForFiles =
            map.resources.map { folder in
                folder.mapName == nil || ResourcesFolder.standardNames.contains(ResourcesFolder.split(folder.path).last)
            } ?? false
        let folders = Set(files.map(\.fixedFolder).filter { !$0.isEmpty })
        let unused = names.filter { name in
            guard isForFiles || !folders.isDisjoint(with: ResourcesFolder.folders(of: name)) else { return false }
            let isServed = !ResourcesFolder.isHidden(name) && name != map.resources?.mapName
            let bytes = Array(name.utf8)
            return isServed && !exact.contains(name) && !globs.contains { $0.match(bytes[...]) != nil }
        }
        let others = unused.isEmpty ? [] : otherMaps
        return unused.filter { name in !others.contains { $0.contains(name) } }.map { name in
            Warning(
                .unusedFile,
                nil,
                "No entry names the file “\(name)” in the resources folder. Add an entry, or remove the file."
            )
        }
    }

    private var otherMaps: [NamedFiles] {
        map.file.map { NamedFiles.ofOtherMaps(beside: $0).filter(\.hasURLs) } ?? []
    }
}

/// Warnings about patterns that probably don't work as intended, and about keys that were probably meant as patterns.
extension MapReview {
    /// Warnings about patterns that never match. Either their file name is never valid, or patterns
    /// before them match all their URLs.
    ///
    /// A narrower pattern always comes first. So only two things can shadow a pattern: a pattern for the same URLs that
    /// repeats a wildcard, such as `**` for `*`; or two patterns, one for http and one for https, that together match
    /// the same URLs.
    private var neverWinning: [Warning] {
        var firstByReach: [String: Entry] = [:]
        return patterns.compactMap { entry, pattern in
            let reach = Self.reach(pattern, scheme: pattern.scheme ?? "*")
            let first = firstByReach[reach]
            firstByReach[reach] = first ?? entry
            let both = ["http", "https"].compactMap { scheme in
                pattern.scheme == nil ? firstByReach[Self.reach(pattern, scheme: scheme)] : nil
            }
            return whyNever(entry, first, both).map { Warning(.neverWins, entry, "The pattern \($0)") }
        }
    }

    /// Returns why a pattern never matches, as the end of a sentence; `nil` if it may match.
    ///
    /// - Parameters:
    ///   - first: The first entry for the same URLs; `nil` if there's no earlier one.
    ///   - both: For a pattern for both http and https, the first http pattern and the first https pattern for the same
    ///     URLs, if they exist. Empty for any other pattern.
    private func whyNever(_ entry: Entry, _ first: Entry?, _ both: [Entry]) -> String? {
        if let file = entry.files.first(where: { (try? $0.filled(with: Self.plainCaptures($0))) == nil }) {
            return
                "never applies: the file name “\(file.text)” has a segment that is empty or begins with “.”. Correct the name."
        }
        if let first, first.answersAll(of: entry) {
            return "is shadowed by “\(first.key)”, which matches the same URLs. Remove one of them."
        }
        guard both.count == 2, both.allSatisfy({ $0.answersAll(of: entry) }) else { return nil }
        return
            "is shadowed by “\(both[0].key)” and “\(both[1].key)”, which together match the same URLs. Remove this pattern."
    }

    private func catchesAll(_ entry: Entry) -> String? {
        guard entry.responding.contains(where: { $0.files.contains { $0.text == "*" } }) else { return nil }
        return "The pattern serves every file in the resources folder. In an app's bundle, that includes the app's own "
            + "files. Serve a separate folder instead, such as “site/*”."
    }

    private func foreignSyntax(_ entry: Entry) -> String? {
        ForeignSyntax(entry.key)
            .map { "The key has “\($0.placeholder)”, but only * matches any text. Write “\($0.pattern)”." }
    }

    private static func reach(_ pattern: MatchPattern, scheme: String) -> String {
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
    /// Returns whether this entry responds to every request that another entry for the same URLs would respond to,
    /// provided that this entry's file exists.
    fileprivate func answersAll(of other: Entry) -> Bool {
        if options.isNever { return true }
        guard options.alternatives.isEmpty, options.fields.when == nil, !other.options.isNever else { return false }
        return options.answersAllMethods
            || other.responding.allSatisfy { $0.options.methods.allSatisfy(options.methods.contains) }
    }
}

/// A key with placeholders of routers, URI templates (RFC 6570) or regular expressions. A map takes them literally.
private struct ForeignSyntax {
    /// The first placeholder in the path or, if the path has none, in the query.
    let placeholder: String
    /// The key with a wildcard in place of each placeholder.
    let pattern: String

    /// A placeholder's name: a letter, followed by letters, digits, hyphens and underscores.
    private static let name = "[A-Za-z][A-Za-z0-9_-]*"
    /// A segment such as `:id`, or `:id?` for one that may be missing.
    private static let segment = "(?<=/):\(name)\\??(?=/|\\z)"
    /// A regular expression's `\d`, `\w`, `\s`, `\D`, `\W` or `\S`, perhaps with a quantifier.
    private static let characterClass = #"\\[dDwWsS](?:[+*]|\{[0-9,]*\})?"#
    /// Text such as `{id}`, `{{id}}`, `\d+` or `(\d+)`.
    private static let anywhere = #"\{\{?\#(name)\}?\}|\(\#(characterClass)\)|\#(characterClass)"#

    /// Finds the placeholders in a key's path and query. Returns `nil` if there are none, or if the key is invalid.
    init?(_ key: String) {
        guard let parts = try? URLParts(key: key),
            key.utf8[...].dropFirst(parts.path.startIndex).contains(where: ":{\\".utf8.contains)
        else { return nil }
        let bytes = Array(key.utf8)
        var path = String(decoding: parts.path, as: UTF8.self)
        var query = String(decoding: bytes[parts.path.endIndex...], as: UTF8.self)
        // The `?` of a segment such as `:id?` begins no query if the path goes on, or ends, after it.
        let isOptional = path.range(of: "\(Self.segment)\\z", options: .regularExpression) != nil
        if isOptional, query == "?" || query.hasPrefix("?/") { (path, query) = (path + query, "") }
        let inPath = "\(Self.segment)|\(Self.anywhere)"
        let found =
            path.range(of: inPath, options: .regularExpression).map { path[$0] }
            ?? query.range(of: Self.anywhere, options: .regularExpression).map { query[$0] }
        guard let found else { return nil }
        placeholder = String(found)
        let pattern =
            String(decoding: bytes[..<parts.path.startIndex], as: UTF8.self) + Self.withWildcards(path, for: inPath)
            + Self.withWildcards(query, for: Self.anywhere)
        // A `$` at the end of a regular expression matches no character, so a pattern doesn't need it.
        self.pattern = pattern.hasSuffix("$") ? String(pattern.dropLast()) : pattern
    }

    private static func withWildcards(_ text: String, for placeholder: String) -> String {
        text.replacingOccurrences(of: "\\*?(?:\(placeholder))+", with: "*", options: .regularExpression)
    }
}
