/// The alternatives of an entry, checked for those that are never reached.
struct AlternativeEntries {
    private(set) var entries: [Entry] = []
    private(set) var problems: [SubstitutionMap.Problem] = []

    /// For each condition and method, the first alternative that answers every request that meets the condition.
    private var firsts: [RequestCondition?: [String: Entry]] = [:]

    /// - Parameters:
    ///   - fields: The entry's fields, with the map's defaults.
    ///   - line: The entry's line; 0 for a map made in code.
    ///   - name: Returns the copy of a file's name that all entries share.
    init(of fields: EntryFields, key: String, line: Int, name: (FileName) -> FileName) {
        guard !fields.alternatives.isEmpty else { return }
        let defaults = fields.forAlternatives
        let count = fields.alternatives.count
        for (index, (ownLine, own)) in fields.alternatives.enumerated() {
            let kind = EntryKind(own)
            let merged = own.merged(withDefaults: kind?.applicable(defaults) ?? defaults)
            let entry = Entry(
                key: key,
                line: line == 0 ? 0 : Int32(clamping: ownLine),
                file: merged.file.map { name(FileName(text: $0)) },
                options: EntryOptions(merged, place: (index + 1, count))
            )
            entries.append(entry)
            check(entry, merged)
        }
    }

    private mutating func check(_ entry: Entry, _ fields: EntryFields) {
        if let message = fields.requestHeadersProblem { note(.conflict, entry, message) }
        if let first = first(answeringAllOf: entry), let number = first.options.place?.number {
            let line = first.lineInMap.map { " on line \($0)" } ?? ""
            note(
                .neverReached,
                entry,
                "is never reached, because alternative \(number)\(line) answers all its requests. "
                    + "Put it before that one, or give that one a different “when” or a “times”."
            )
        }
        guard Self.answersAlways(entry) else { return }
        for method in Self.methods(of: entry) where firsts[entry.options.when]?[method] == nil {
            firsts[entry.options.when, default: [:]][method] = entry
        }
    }

    private mutating func note(_ kind: SubstitutionMap.Problem.Kind, _ entry: Entry, _ message: String) {
        // A conflict's message begins with the name of a field.
        let separator = kind == .conflict ? ":" : ""
        problems.append(.init(kind, entry, "Alternative \(entry.options.place?.number ?? 0)\(separator) \(message)"))
    }

    /// Returns an earlier alternative that answers all requests of this one.
    private func first(answeringAllOf entry: Entry) -> Entry? {
        first(answering: Self.methods(of: entry), for: nil)
            ?? entry.options.when.flatMap { first(answering: Self.methods(of: entry), for: $0) }
    }

    private func first(answering methods: [String], for condition: RequestCondition?) -> Entry? {
        guard let byMethod = firsts[condition] else { return nil }
        if let all = byMethod["*"] { return all }
        let found = methods.map { byMethod[$0] }
        return found.contains { $0 == nil } ? nil : found.compactMap { $0 }.last
    }

    /// Returns whether an alternative answers every request that meets its condition. A file or target that is made from the URL
    /// may not exist. Requests for it go to later alternatives.
    private static func answersAlways(_ entry: Entry) -> Bool {
        let options = entry.options
        guard options.times == nil, entry.file?.wildcards ?? 0 == 0 else { return false }
        if case .network(let target?) = options.answer { return target.wildcards == 0 }
        return true
    }

    private static func methods(of entry: Entry) -> [String] {
        let methods = entry.options.methods
        return methods.contains("GET") ? methods + ["HEAD"] : methods
    }
}
