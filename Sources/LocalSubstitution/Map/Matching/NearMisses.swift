import Foundation
import HTTPSyntax

extension SubstitutionMap {
    /// A key that doesn't match a request, but almost does.
    public struct NearMiss: Sendable, Hashable, CustomStringConvertible {
        /// A way in which an entry and a request differ.
        public struct Difference: RawRepresentable, Sendable, Hashable {
            /// What differs, in a word or two.
            public let rawValue: String

            /// Creates a difference from its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The scheme, `http` or `https`.
            public static var scheme: Difference { Difference(rawValue: "scheme") }
            /// The host, in which a few letters differ.
            public static var host: Difference { Difference(rawValue: "host") }
            /// The port. The key or the request may have none.
            public static var port: Difference { Difference(rawValue: "port") }
            /// The path, in which a few letters or one segment differ.
            public static var path: Difference { Difference(rawValue: "path") }
            /// The query. The key or the request may have none.
            public static var query: Difference { Difference(rawValue: "query") }
            /// A slash at the end of the path, which only the key or only the request has.
            public static var trailingSlash: Difference { Difference(rawValue: "trailing slash") }
            /// The case of letters in the path or query.
            public static var letterCase: Difference { Difference(rawValue: "letter case") }
            /// The percent-encoding of characters in the path or query, such as `(` and `%28`. This includes a space
            /// written as `+` or `%20`, and an accented letter written as one character or as two.
            public static var percentEncoding: Difference { Difference(rawValue: "percent-encoding") }
            /// The request's method, which the entry doesn't list.
            public static var method: Difference { Difference(rawValue: "method") }

            /// How to correct the difference.
            fileprivate var fix: String {
                switch self {
                case .scheme: "begin the key with *:// to match both schemes"
                case .host: "correct the host"
                case .port: "use the request's port, or :* for any"
                case .path: "correct the path of the key or of the request"
                case .trailingSlash: "add or remove the slash at the end of the key's path"
                case .letterCase: "match the request's letter case"
                case .percentEncoding: "copy the request's path and query into the key"
                default: "correct the \(rawValue)"
                }
            }
        }

        /// The key, as spelled in the map.
        public let key: String
        /// All differences. There's at least one.
        public let differences: [Difference]

        /// The key, the differences, and how to correct each.
        public let description: String

        /// - Parameter isOneOfSeveralQueries: Whether other keys differ from this key only in their queries.
        init(_ entry: Entry, _ differences: [Difference], _ url: NormalizedURL, isOneOfSeveralQueries: Bool) {
            key = entry.key
            self.differences = differences
            let fixes = differences.map { $0 == .query ? Self.queryFix(entry, isOneOfSeveralQueries) : $0.fix }
            // Fixes contain commas, so there's also a comma before the last “and”.
            let advice = (fixes.count > 1 ? [fixes.dropLast().joined(separator: ", ")] : []) + fixes.suffix(1)
            description =
                "“\(key)” differs only in \(differences.map(\.rawValue).listed())"
                + (differences.contains(.query) ? Self.parameters(entry, url) : "") + ". "
                + "\(advice.joined(separator: ", and ").capitalizedFirst)."
        }

        /// The description begins with the name of the map's file, if any.
        init(_ other: NearMiss, inFile file: String?) {
            (key, differences) = (other.key, other.differences)
            description = (file.map { "In “\($0)”, " } ?? "") + other.description
        }

        /// A near miss for a key whose alternatives don't match the request's method.
        init(_ alternatives: [Entry], key: String, method: String) {
            self.key = key
            differences = [.method]
            var matched: [String] = []
            for name in alternatives.flatMap(\.options.methods) where !matched.contains(name) { matched.append(name) }
            let field = alternatives.contains(where: \.isMadeInCode) ? ".methods(…)" : "“methods”"
            let usual = method.uppercased()
            let advice =
                if method != usual, matched.contains(usual) {
                    ", but letter case matters. Send “\(usual)”."
                } else if matched.contains(where: { $0.uppercased() == method }) {
                    ", but letter case matters. Write “\(method)” in \(field)."
                } else if alternatives.contains(where: { $0.options.fields.methods != nil }) {
                    ". To match \(method) too, add it to \(field), beside the others."
                } else {
                    ". To match \(method), \(Self.methodsFix(alternatives, method, matched))."
                }
            description = "“\(key)” matches only \(matched.listed())\(advice)"
        }

        /// A clause with the parameters that only one of the two queries has; empty without any.
        private static func parameters(_ entry: Entry, _ url: NormalizedURL) -> String {
            let written = entry.key.utf8.firstIndex(of: UInt8(ascii: "?")).map { entry.key.utf8[$0...].dropFirst() }
            func compared(_ query: String?) -> Query {
                let query = Query(query ?? "")
                return entry.options.ignoreQuery.map { query.removing($0) ?? Query("") } ?? query
            }
            let ofKey = compared(
                entry.isPattern ? written.flatMap { String($0) } : (try? NormalizedURL(key: entry.key))?.query
            )
            let ofRequest = compared(url.query)
            func quoted(_ texts: [String]) -> String? {
                guard !texts.isEmpty else { return nil }
                let shown = texts.prefix(3).map { "“\(ShownURL.parameter($0).clipped)”" }
                return (shown + (texts.count > 3 ? ["\(texts.count - 3) more"] : [])).listed()
            }
            switch (quoted(ofRequest.texts(notIn: ofKey)), quoted(ofKey.texts(notIn: ofRequest))) {
            case (let request?, let key?): return ": the request has \(request), and the key \(key)"
            case (let request?, nil): return ": only the request has \(request)"
            case (nil, let key?): return ": only the key has \(key)"
            case (nil, nil): return ""
            }
        }

        /// Corrects a query with an entry for the request's query, or with `ignoreQuery`. If the key has a query, the
        /// response may depend on it, so the fix offers both.
        private static func queryFix(_ entry: Entry, _ isOneOfSeveralQueries: Bool) -> String {
            let add = "add an entry for the request's query"
            if isOneOfSeveralQueries { return add }
            let ignore =
                if entry.options.ignoreQuery?.names?.isEmpty == false {
                    "list more parameters in \(entry.isMadeInCode ? ".ignoreQuery(…)" : "“ignoreQuery”")"
                } else {
                    adding(entry.isMadeInCode ? ".ignoreQuery()" : "\"ignoreQuery\": true", to: entry)
                }
            return entry.keyHasQuery ? "\(add), or \(ignore) if the response doesn't depend on the query" : ignore
        }

        /// Lists a method in entries that list none.
        private static func methodsFix(_ alternatives: [Entry], _ method: String, _ matched: [String]) -> String {
            let isInCode = alternatives.contains(where: \.isMadeInCode)
            func field(_ methods: [String]) -> String {
                let list = methods.map { JSONText.string($0) }.joined(separator: ", ")
                return isInCode ? ".methods(\(list))" : "\"methods\": [\(list)]"
            }
            let one = field([method])
            let add = alternatives.count == 1 ? adding(one, to: alternatives[0]) : "add \(one) to an alternative"
            return "\(add); to keep \(matched.listed()) too, \(field(matched + [method]))"
        }

        /// Adds a field to an entry. An entry that is only a file's name has no place for a field, so its value is
        /// replaced.
        private static func adding(_ field: String, to entry: Entry) -> String {
            guard entry.options.isPlain, let file = entry.file.map({ JSONText.string($0.text) }) else {
                return "add \(field)"
            }
            let value = entry.isMadeInCode ? ".file(\(file))\(field)" : "{ \"file\": \(file), \(field) }"
            return "write \(value) as the key's value"
        }
    }
}

extension Entry {
    fileprivate var keyHasQuery: Bool { key.utf8.contains(UInt8(ascii: "?")) }

    /// Whether the entry was made in code, so that advice on it is Swift instead of JSON.
    var isMadeInCode: Bool { lineInMap == nil }
}

/// A search for the keys that almost match a URL. Such a key may have another scheme, port, query or letter case than
/// the URL, or other percent-encoding. One path may end in a slash that the other lacks, and one host may begin with a
/// “www.” that the other lacks. The key's host may be misspelled and, in an exact key, also the path. If there's no such
/// key, and none matches, exact keys are found in which only one of several segments of the path differs.
///
/// Only listeners and explanations need a search, so it's created at first use: see ``SubstitutionMap/Storage``.
final class NearMisses: Sendable {
    private typealias Difference = SubstitutionMap.NearMiss.Difference
    private typealias Text = NearestName.Text

    private final class Key: Sendable {
        let number: Int
        /// The part that may be misspelled. For an exact key, the host and the decoded path without a slash at its
        /// end. For a pattern, the host or domain.
        let outline: Text
        /// How many of the last labels of a URL's host are compared with the outline; `nil` for all.
        let labels: Int?
        /// The whole pattern, and the pattern's path, decoded, in lowercase and without the query; `nil` for an exact
        /// key.
        let pattern: (whole: MatchPattern, path: Glob)?

        init(_ number: Int, _ outline: Text, labels: Int? = nil, pattern: (whole: MatchPattern, path: Glob)? = nil) {
            (self.number, self.outline, self.labels, self.pattern) = (number, outline, labels, pattern)
        }
    }

    /// A key whose host and path equal or misspell those of a URL.
    private final class Found {
        let entry: Entry
        /// The key's pattern; `nil` for an exact key.
        let pattern: MatchPattern?
        /// The number of edits that correct the misspelling; 0 if host and path are equal. If one segment of the path
        /// differs, the number of bytes in which it does.
        let edits: Int
        var differences: [Difference] = []

        init(_ entry: Entry, _ pattern: MatchPattern?, edits: Int) {
            (self.entry, self.pattern, self.edits) = (entry, pattern, edits)
        }

        /// Whether the key and the URL have the same host and path, but different queries.
        var differsInQuery: Bool {
            differences.contains(.query) && !differences.contains { $0 == .host || $0 == .path }
        }
    }

    private let index: MapIndex
    private let keys: [Key]

    /// More keys wouldn't help.
    static let most = 5
    /// The maximum number of keys that are compared in all parts, since that takes time.
    private static let mostCompared = 1_000

    init(_ index: MapIndex) {
        self.index = index
        keys = index.entries.enumerated().compactMap { number, entry in
            if !entry.isPattern {
                return (try? NormalizedURL(key: entry.key)).map { Key(number, Self.outline($0)) }
            }
            guard let pattern = try? MatchPattern(entry.key, ignoring: entry.options.ignoreQuery) else { return nil }
            let path = Glob(Self.decoded(Self.withoutQuery(pattern.path.text)).lowercased())
            let (name, labels): (String, Int?) =
                switch pattern.host {
                case .exact(let name): (name, nil)
                case .domain(let name): (name, MatchPattern.Host.domains(of: name).count)
                case .any: ("", 0)
                }
            return Key(number, Text(name), labels: labels, pattern: (pattern, path))
        }
    }

    /// Keys with fewer differences come first.
    func of(_ url: NormalizedURL) -> [SubstitutionMap.NearMiss] {
        var found = near(url)
        // Keys with more edits than the closest misspelling probably name other resources. Equal keys are compared first.
        let fewest = found.map(\.edits).filter { $0 > 0 }.min()
        found = found.filter { $0.edits == 0 } + found.filter { $0.edits == fewest }
        found = compared(found, url)
        if found.isEmpty, index.candidates(for: url).isEmpty {
            found = compared(withOneOtherSegment(url), url).filter { $0.differences == [.path] }
        }
        found = found.ordered {
            ($0.differences.count, $0.edits, $0.entry.key) < ($1.differences.count, $1.edits, $1.entry.key)
        }
        // If several keys differ only in their queries, the response probably depends on the query. Then `ignoreQuery`
        // isn't advised, and only the first of these keys stays.
        let differing = found.filter(\.differsInQuery)
        let areSeveral = differing.count > 1 && differing.contains { $0.entry.keyHasQuery }
        if areSeveral { found = found.filter { !$0.differsInQuery || $0.entry.key == differing[0].entry.key } }
        return found.prefix(Self.most).map {
            SubstitutionMap.NearMiss(
                $0.entry,
                $0.differences,
                url,
                isOneOfSeveralQueries: areSeveral && $0.differsInQuery
            )
        }
    }

    /// Compares all parts of the first keys with those of a URL. Returns the keys that differ.
    private func compared(_ found: [Found], _ url: NormalizedURL) -> [Found] {
        for key in found.prefix(Self.mostCompared) {
            let pattern = key.pattern ?? (try? MatchPattern(key.entry.key))
            key.differences = pattern.map { Self.differences(url, $0) } ?? []
        }
        return found.filter { !$0.differences.isEmpty }
    }

    /// Returns the exact keys with the URL's host and, but for one segment, its path. The closest ones come first.
    private func withOneOtherSegment(_ url: NormalizedURL) -> [Found] {
        let outline = Self.outline(url)
        return keys.compactMap { key in
            guard key.pattern == nil, let (start, own, other) = key.outline.difference(from: outline),
                start > url.host.utf8.count, outline.bytes.dropFirst(url.host.utf8.count + 1).contains(Self.slash),
                !own.contains(Self.slash), !other.contains(Self.slash)
            else { return nil }
            return Found(index.entries[key.number], nil, edits: max(own.count, other.count))
        }.ordered { $0.edits < $1.edits }
    }

    private static let slash = UInt8(ascii: "/")

    private func near(_ url: NormalizedURL) -> [Found] {
        // A key that matches the URL isn't a near miss. If its entry is skipped, a file may be missing.
        let matches = Set(index.candidates(for: url).map(\.number))
        let outline = Self.outline(url)
        let host = url.host.hasPrefix("www.") ? String(url.host.dropFirst(4)) : "www.\(url.host)"
        let other = (exact: Text(host + Self.decoded(Self.trimmed(url.path))), pattern: Text(host))
        // No label of the host, then its last label, its last two labels, and so on.
        let domains = [Text("")] + MatchPattern.Host.domains(of: url.host).reversed().map { Text($0) }
        let paths = Self.forms(ofPath: url.path).map { Array(Self.decoded($0).lowercased().utf8)[...] }
        var found: [Found] = []
        for key in keys {
            let labels = key.labels ?? domains.count - 1
            let asked = key.pattern == nil ? outline : labels < domains.count ? domains[labels] : nil
            guard let asked, !matches.contains(key.number) else { continue }
            // A “www.” that one of the hosts lacks counts as one edit.
            let isOther = (key.pattern == nil ? other.exact : other.pattern).bytes == key.outline.bytes
            guard let edits = isOther && key.labels == nil ? 1 : key.outline.misspellings(of: asked) else { continue }
            let entry = index.entries[key.number]
            if let path = key.pattern?.path {
                guard let captures = paths.lazy.compactMap({ path.match($0) }).first,
                    (try? entry.fileNames(filledWith: captures)) != nil
                else { continue }
            }
            found.append(Found(entry, key.pattern?.whole, edits: edits))
        }
        return found
    }

    private static func outline(_ url: NormalizedURL) -> Text { Text(url.host + decoded(trimmed(url.path))) }

    /// - Parameter key: A pattern, or an exact key as a pattern.
    private static func differences(_ url: NormalizedURL, _ key: MatchPattern) -> [Difference] {
        let ownPath = withoutQuery(key.path.text)
        // The URL's path, with or without a slash at its end, depending on which matches the key's path. If neither
        // matches, the path is misspelled. Then the key's own path is used, so that the query can still be compared.
        let forms = Self.forms(ofPath: url.path)
        let path =
            forms.first { matches(ownPath, $0) { $0.lowercased() } }
            ?? forms.first { matches(ownPath, $0) { decoded($0).lowercased() } } ?? ownPath
        // A pattern matches a query with its parameters in the request's order, or sorted by name.
        var texts = [(key: key.path.text, url: path + (url.query.map { "?" + $0 } ?? ""))]
        if let sorted = key.sortedPath, let query = url.query {
            texts.append((key: sorted.glob.text, url: path + "?" + Query(query).sorted.text))
        }
        let same = texts.first { matches($0.key, $0.url) { decoded($0).lowercased() } }
        let cased = same ?? (key: ownPath, url: path)
        let all: [Difference?] = [
            key.scheme == nil || key.scheme == url.scheme ? nil : .scheme,
            key.host.includes(url.host) ? nil : .host,
            key.matchesPort(url) ? nil : .port,
            trimmed(path).lowercased() == trimmed(url.path).lowercased() ? nil : .path,
            same == nil ? .query : nil,
            path.hasSuffix("/") == url.path.hasSuffix("/") ? nil : .trailingSlash,
            matches(cased.key, cased.url, decoded) ? nil : .letterCase,
            matches(cased.key, cased.url) { $0.lowercased() } ? nil : .percentEncoding,
        ]
        return all.compactMap { $0 }
    }

    private static func matches(_ key: String, _ url: String, _ change: (String) -> String) -> Bool {
        Glob(change(key)).matches(change(url))
    }

    /// Undoes percent-encoding, except that of `*`, which would be a wildcard. `+` becomes a space, as in a form, and
    /// letters with accents are in one form (NFC).
    @inline(never)  // Otherwise, each of its callers would contain a copy.
    private static func decoded(_ text: String) -> String {
        let text = text.replacingOccurrences(of: "%2A", with: "%252A")
        return (String(utf8: PercentEncoding.decode(text.utf8)) ?? text).replacingOccurrences(of: "+", with: " ")
            .precomposedStringWithCanonicalMapping
    }

    private static func trimmed(_ path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// The path, and the same path with the slash at its end removed or added.
    private static func forms(ofPath path: String) -> [String] {
        [path, path.hasSuffix("/") ? trimmed(path) : path + "/"]
    }

    private static func withoutQuery(_ path: String) -> String { String(path.prefix { $0 != "?" }) }
}

extension NearestName.Text {
    /// How many edits turn one text into the other. `nil` if only digits differ, or if there are more edits than
    /// ``NearestName/mostEdits`` or a third of the length of the word that differs.
    fileprivate func misspellings(of other: Self) -> Int? {
        guard mayBe(near: other, limit: NearestName.mostEdits) else { return nil }
        guard let (start, own, others) = difference(from: other) else { return 0 }
        // Different digits are rarely misspellings. They number versions, or the members of a series.
        guard !(own.allSatisfy(\.isDigit) && others.allSatisfy(\.isDigit)) else { return nil }

        let wordBefore = bytes.prefix(start).reversed().prefix(while: Self.isWordByte).count
        let wordAfter = bytes.dropFirst(start + own.count).prefix(while: Self.isWordByte).count
        let word = wordBefore + max(own.count, others.count) + wordAfter
        // A word of one or two letters has no misspellings: one edit usually makes it another word.
        let limit = min(NearestName.mostEdits, word / 3)
        return limit == 0 ? nil : NearestName.edits(from: own, to: others, limit: limit)
    }

    /// The parts of the two texts between the beginning and the end that both have, and the length of the beginning. `nil`
    /// if the texts are equal.
    fileprivate func difference(from other: Self) -> (start: Int, own: ArraySlice<UInt8>, other: ArraySlice<UInt8>)? {
        let (first, second) = (bytes, other.bytes)
        let shorter = min(first.count, second.count)
        var (start, end) = (0, 0)
        while start < shorter, first[start] == second[start] { start += 1 }
        guard start < max(first.count, second.count) else { return nil }
        while end < shorter - start, first[first.count - 1 - end] == second[second.count - 1 - end] { end += 1 }
        return (start, first.dropFirst(start).dropLast(end), second.dropFirst(start).dropLast(end))
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter }
}
