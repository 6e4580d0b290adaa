import Foundation

/// Checks every entry of a map, notes every problem, and indexes the valid entries.
final class MapLoader {
    typealias Problem = SubstitutionMap.Problem

    private(set) var index = MapIndex()
    private(set) var problems: [SubstitutionMap.Problem] = []
    /// These files are treated as used although no valid entry names them: the files of invalid entries, and existing
    /// files whose names are probably misspelled in the map.
    var filesLeftOut: [FileName] { namesLeftOut + files.meant }

    var looksAtFiles: Bool { files.looksAtFiles }

    private var namesLeftOut: [FileName] = []
    private let files: FileChecker
    private let handlers: SubstitutionMap.HandlerTable
    /// The valid entries with patterns. They're indexed when all are known.
    private var patterns: [(entry: Entry, pattern: MatchPattern)] = []
    private var places: [String: Int] = [:]
    /// The first invalid entry for each normal form of a key. A later entry whose key has the same form is reported as
    /// a duplicate.
    private var wrong: [Entry] = []
    private var wrongPlaces: [String: Int] = [:]
    /// The normal forms and keys of all invalid entries. A later entry with one of these keys is invalid, too.
    private var wrongKeys: Set<String> = []
    private var defaults = EntryFields()
    private var plain = Entry.Options(EntryFields(), isPlain: true)
    /// Whether the map is read for the second time, so that the defaults are known.
    private let hasDefaults: Bool
    private var firstWithFile: Entry?
    /// The line of each key that begins with `$`.
    private var reserved: [String: Int] = [:]

    /// - Parameter defaults: The map's defaults, if they're already known.
    private init(
        _ folder: ResourcesFolder?,
        looksAtFiles: Bool,
        handlers: SubstitutionMap.HandlerTable = .any,
        defaults: EntryFields? = nil
    ) {
        self.handlers = handlers
        files = FileChecker(folder, looksAtFiles: looksAtFiles)
        hasDefaults = defaults != nil
        if let defaults { use(defaults) }
    }

    convenience init(answers: [(key: String, value: SubstitutionMap.Answer)], folder: ResourcesFolder? = nil) {
        self.init(folder, looksAtFiles: true)
        for (key, answer) in answers { add(answer, key: key) }
        finish()
    }

    private func add(_ answer: SubstitutionMap.Answer, key: String) {
        problems += answer.problems.map { Problem(.invalidValue, key: key, $0) }
        if answer.isNever { return add(key: key, line: 0, file: nil, options: .never, isRight: true) }
        if let file = answer.onlyFile { return add(key: key, line: 0, file: file, options: plain, isRight: true) }
        let json = Array(answer.json().utf8)
        let handlers = SubstitutionMap.HandlerTable([:], numbered: answer.handlers)
        add(EntryFieldsReader(0..<json.count, of: json, line: 0, data: answer.data, handlers: handlers), key: key)
    }

    /// - Parameter looksAtFiles: Whether files must exist. If so, a map with files needs a folder. If `false`, only
    ///   files' names are checked.
    static func load(
        json: [UInt8],
        folder: ResourcesFolder?,
        looksAtFiles: Bool = true,
        handlers: SubstitutionMap.HandlerTable = .any
    ) -> MapLoader {
        let json = json.withoutByteOrderMark
        var loader = MapLoader(folder, looksAtFiles: looksAtFiles, handlers: handlers)
        do throws(Complaint) {
            if try !loader.add(json) {
                loader = MapLoader(
                    folder,
                    looksAtFiles: looksAtFiles,
                    handlers: handlers,
                    defaults: loader.defaults
                )
                _ = try loader.add(json)
            }
            loader.finish()
        } catch {
            loader = MapLoader(folder, looksAtFiles: looksAtFiles)
            loader.problems = [Problem(error, in: json)]
        }
        return loader
    }

    private func finish() {
        index.insert(patterns)
        if let newer = problems.first(where: { $0.kind == .newerVersion }) {
            // What an older library takes for a mistake may be right in this version.
            problems = [newer]
        } else {
            problems = problems.ordered(after: files.folderProblem(of: firstWithFile))
        }
    }

    /// Adds the members one by one, since a list of all members would take as much memory as the map.
    ///
    /// - Returns: `false` if the map must be read again, because the defaults come after an entry to which they apply;
    ///   otherwise, `true`.
    private func add(_ json: [UInt8]) throws(Complaint) -> Bool {
        var (hasEntries, areDefaultsFirst) = (false, true)
        try JSONScanner(json).forEachMember { member in
            guard !member.key.hasPrefix("$") else {
                if member.key == "$defaults", hasEntries { areDefaultsFirst = false }
                return addReserved(member, of: json)
            }
            hasEntries = true
            switch member.kind {
            case .string:
                add(key: member.key, line: member.line, file: member.text, options: plain, isRight: true)
            case .null:
                add(key: member.key, line: member.line, file: nil, options: .never, isRight: true)
            case .object where Self.isArchive(member, of: json):
                let message = "The map is an HTTP archive. Import it into a map with `substitute import FILE`."
                note(.invalidKey, member, message)
            case .object, .array:
                add(EntryFieldsReader(member, of: json, handlers: handlers), key: member.key)
            case .number, .bool, .other:
                note(.wrongType, member, "The value must be a file name, an object, a list of alternatives, or null.")
                add(key: member.key, line: member.line, file: nil, options: .never, isRight: false)
            }
        }
        return areDefaultsFirst
    }

    private static func isArchive(_ member: JSONScanner.Member, of json: [UInt8]) -> Bool {
        member.key == "log"
            && (try? JSONScanner(json, in: member.range).members())?.contains { $0.key == "entries" } == true
    }

    private func addReserved(_ member: JSONScanner.Member, of json: [UInt8]) {
        if let first = reserved[member.key] {
            note(.duplicate, member, Self.isGivenTwice(first))
        } else {
            reserved[member.key] = member.line
        }
        guard member.key != "$schema" else { return }
        guard member.key != MapVersion.key else {
            if let problem = MapVersion.problem(of: member) { problems.append(problem) }
            return
        }
        guard member.key == "$defaults" else {
            let known = ["$schema", MapVersion.key, "$defaults"]
            let other = "Only \(known.listed()) may begin with $. Remove the key, or write a URL instead."
            let advice = NearestName.advice(on: member.key, in: known, or: other)
            return note(.reservedKey, member, "The key is reserved. \(advice)")
        }
        guard member.kind == .object else {
            return note(.wrongType, member, "The value must be an object with an entry's fields.")
        }
        let reader = EntryFieldsReader(member, of: json, in: .defaults)
        note(reader, key: member.key)
        if !hasDefaults { use(reader.fields) }
    }

    private func use(_ defaults: EntryFields) {
        self.defaults = defaults
        plain = Entry.Options(EntryFields().merged(withDefaults: defaults), isPlain: true)
    }

    private func add(_ reader: EntryFieldsReader, key: String) {
        note(reader, key: key)
        let problemsBefore = problems.count
        let fields = reader.fields.merged(withDefaults: defaults)
        let alternatives = AlternativeEntries(of: fields, key: key)
        let options = Entry.Options(fields, alternatives: alternatives.entries)
        if reader.problems.isEmpty {
            problems += alternatives.problems
            if let (field, message) = fields.inheritedConflict {
                problems.append(Problem(.conflict, key: key, line: reader.lineInMap(field), message))
            }
        }
        let isRight = reader.problems.isEmpty && problems.count == problemsBefore
        add(key: key, line: reader.line, file: fields.file, options: options, isRight: isRight)
    }

    private func add(key: String, line: Int, file: String?, options: Entry.Options, isRight: Bool) {
        let file = file.map { FileName(text: $0) }
        let problemsBefore = problems.count
        let entry = Entry(key: key, line: Int32(clamping: line), file: file, options: options)
        defer {
            if !isRight || problems.count > problemsBefore { namesLeftOut += entry.responding.flatMap(\.files) }
        }
        do {
            if entry.isPattern {
                let pattern = try MatchPattern(key, ignoring: options.ignoreQuery)
                let isRight = check(entry, wildcards: pattern.path.wildcards) && isRight && !isWrong(key, pattern.text)
                let other = places[pattern.text].map { patterns[$0].entry }
                if isRight, other == nil {
                    places[pattern.text] = patterns.count
                    patterns.append((entry, pattern))
                }
                noteIfEqual(entry, to: other, isRight: isRight, form: pattern.text)
            } else {
                let url = try NormalizedURL(key: key)
                let isRight = check(entry, wildcards: 0) && isRight && !isWrong(key, url.canonical)
                let other = isRight ? index.insert(entry, url: url) : index.entry(equalTo: url)
                noteIfEqual(entry, to: other, isRight: isRight, form: url.canonical)
            }
        } catch {
            problems.append(Problem(.invalidKey, entry, "The key \(error)"))
            _ = check(entry, wildcards: .max)
            noteIfEqual(entry, to: nil, isRight: false, form: key)
        }
    }

    private func check(_ entry: Entry, wildcards: Int) -> Bool {
        let problemsBefore = problems.count
        checkOne(entry, wildcards: wildcards)
        for alternative in entry.options.alternatives { checkOne(alternative, wildcards: wildcards) }
        return problems.count == problemsBefore
    }

    private func checkOne(_ entry: Entry, wildcards: Int) {
        if firstWithFile == nil, !entry.files.isEmpty { firstWithFile = entry }
        problems += files.problems(of: entry, wildcardsInKey: wildcards)
    }

    private func isWrong(_ key: String, _ form: String) -> Bool {
        wrongPlaces[form] != nil && wrongKeys.contains("\(form) \(key)")
    }

    /// Notes a problem if the key of an earlier entry has the same normal form as the entry's key.
    ///
    /// - Parameters:
    ///   - used: The earlier, valid entry whose key has the same normal form; `nil` if there's none.
    ///   - isRight: Whether the entry is valid. If not, it's added to ``wrong``.
    ///   - form: The normal form of the entry's key; for an invalid key, the key itself.
    private func noteIfEqual(_ entry: Entry, to used: Entry?, isRight: Bool, form: String) {
        let other = used ?? wrongPlaces[form].map { wrong[$0] }
        if !isRight {
            wrongKeys.insert("\(form) \(entry.key)")
            if wrongPlaces[form] == nil {
                wrongPlaces[form] = wrong.count
                wrong.append(entry)
            }
        }
        guard let other else { return }
        let message =
            if entry.key == other.key {
                Self.isGivenTwice(other.lineInMap)
            } else {
                "The key is another spelling of “\(other.key)”\(other.lineInMap.map { " on line \($0)" } ?? ""). "
                    + "Keep one of the entries."
            }
        problems.append(Problem(.duplicate, entry, message))
    }

    private static func isGivenTwice(_ first: Int?) -> String {
        "The key is given twice\(first.map { ", first on line \($0)" } ?? ""). Keep one."
    }

    private func note(_ kind: Problem.Kind, _ member: JSONScanner.Member, _ message: String) {
        problems.append(Problem(kind, key: member.key, line: member.line, message))
    }

    private func note(_ reader: EntryFieldsReader, key: String) {
        problems += reader.problems.map { Problem($0.kind, key: key, line: $0.line > 0 ? $0.line : nil, $0.message) }
    }
}

/// The alternatives of an entry, and their problems, such as an alternative that's never reached.
private struct AlternativeEntries {
    private(set) var entries: [Entry] = []
    private(set) var problems: [SubstitutionMap.Problem] = []

    /// For each condition and method, the number of the first alternative that matches all requests that meet the
    /// condition and have the method. The dictionary's keys consist of the condition's digest, a space and the method.
    private var firsts: [String: Int] = [:]

    /// - Parameter fields: The entry's fields, with the map's defaults.
    init(of fields: EntryFields, key: String) {
        guard !fields.alternatives.isEmpty else { return }
        let count = fields.alternatives.count
        for (index, (line, own)) in fields.alternatives.enumerated() {
            let merged = own.merged(withDefaults: fields, in: .alternative)
            let entry = Entry(
                key: key,
                line: Int32(clamping: line),
                file: merged.file.map { FileName(text: $0) },
                options: Entry.Options(merged, place: (index + 1, count))
            )
            entries.append(entry)
            check(entry, merged)
        }
    }

    private mutating func check(_ entry: Entry, _ fields: EntryFields) {
        if let conflict = fields.inheritedConflict { note(.conflict, entry, conflict.message) }
        let condition = entry.options.fields.when?.digest ?? Self.always
        let methods = Self.methods(of: entry)
        let first = first(matching: methods, for: Self.always) ?? first(matching: methods, for: condition)
        if let number = first {
            let line = entries[number - 1].lineInMap.map { " on line \($0)" } ?? ""
            note(
                .neverReached,
                entry,
                "is never reached, because alternative \(number)\(line) matches every request that this one would. "
                    + "Move this one before alternative \(number), "
                    + "or give alternative \(number) another “when” or a “times”."
            )
        }
        guard Self.answersAlways(entry) else { return }
        for method in methods where firsts["\(condition) \(method)"] == nil {
            firsts["\(condition) \(method)"] = entries.count
        }
    }

    private mutating func note(_ kind: SubstitutionMap.Problem.Kind, _ entry: Entry, _ message: String) {
        // A conflict's message begins with a field's name, so it follows a colon. The other message begins with “is”.
        let separator = kind == .conflict ? ":" : ""
        problems.append(.init(kind, entry, "Alternative \(entry.options.place?.number ?? 0)\(separator) \(message)"))
    }

    /// The digest of an alternative without a condition.
    private static let always = ""

    /// The number of an earlier alternative that matches all requests that meet a condition and have one of the
    /// methods. If several earlier alternatives match them only together, the number of one of them. `nil` if one of
    /// these requests may reach a later alternative.
    ///
    /// - Parameter condition: The digest of the condition.
    private func first(matching methods: [String], for condition: String) -> Int? {
        if let all = firsts["\(condition) *"] { return all }
        let found = methods.map { firsts["\(condition) \($0)"] }
        return found.contains(nil) ? nil : found.last ?? nil
    }

    /// Whether the alternative matches every request with its methods that meets its condition. `false` with `times`,
    /// and if its file or target has wildcards. With wildcards, a later alternative matches if the file doesn't exist,
    /// or if the filled target isn't valid.
    private static func answersAlways(_ entry: Entry) -> Bool {
        let options = entry.options
        guard options.fields.times == nil, !entry.files.contains(where: \.hasWildcards) else { return false }
        return entry.forwardTarget?.wildcards ?? 0 == 0
    }

    private static func methods(of entry: Entry) -> [String] {
        let methods = entry.options.methods
        return methods.contains("GET") ? methods + ["HEAD"] : methods
    }
}
