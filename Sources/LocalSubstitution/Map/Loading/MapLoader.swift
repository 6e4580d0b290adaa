import Foundation

/// Makes a map of its JSON: checks every entry, notes every problem, and indexes the entries that are right.
struct MapLoader {
    typealias Problem = SubstitutionMap.Problem

    private(set) var index = MapIndex()
    private(set) var problems: [SubstitutionMap.Problem] = []
    /// The files of entries that are left out, since something is wrong with them: those that are named, and those that were
    /// meant.
    var filesLeftOut: [FileName] { namesLeftOut + files.meant }

    private var namesLeftOut: [FileName] = []
    private var files: FileChecker
    private var patterns: [(entry: Entry, pattern: MatchPattern)] = []
    /// The patterns so far by their normal form.
    private var patternKeys: [String: Entry] = [:]
    /// The entries so far that are not right, by their normal form: another one for the same URLs is one too many all the same.
    private var wrong: [String: Entry] = [:]
    private var defaults = EntryFields()

    /// A map in code.
    init(files: [String: String], folder: ResourcesFolder) {
        self.files = FileChecker(folder, looksAtFiles: true)
        let options = EntryOptions(EntryFields())
        for (key, file) in files.sorted(by: { $0.key < $1.key }) {
            add(key: key, line: 0, file: file, options: options, isRight: true)
        }
        index.insert(patterns)
        if let problem = self.files.folderProblem { problems.insert(problem, at: 0) }
    }

    /// A map's JSON. Without a resources folder, its entries' files aren't looked for.
    init(json: [UInt8], folder: ResourcesFolder?, looksAtFiles: Bool = true) {
        files = FileChecker(folder, looksAtFiles: looksAtFiles)
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let json = json.starts(with: byteOrderMark) ? Array(json.dropFirst(byteOrderMark.count)) : json
        var scanner = JSONScanner(json)
        do {
            add(try scanner.members(), of: json)
            if let problem = files.folderProblem { problems.insert(problem, at: 0) }
        } catch {
            problems = [Self.problem(error, in: json)]
        }
    }

    private mutating func add(_ members: [JSONScanner.Member], of json: [UInt8]) {
        index.reserveCapacity(members.count)
        readDefaults(members, of: json)
        let plain = EntryOptions(EntryFields().merged(withDefaults: defaults))
        var lines: [String: Int] = [:]
        lines.reserveCapacity(members.count)
        for member in members {
            let first = lines.updateValue(member.line, forKey: member.key)
            if let first {
                note(.duplicate, member, "is given twice, first on line \(first): keep one")
                lines[member.key] = first
            }
            guard !member.key.hasPrefix("$") else { continue }
            // An entry that is not right is checked to the end all the same, but never used.
            let isRight = first == nil
            switch member.value {
            case .string(let file):
                add(key: member.key, line: member.line, file: file, options: plain, isRight: isRight)
            case .null:
                add(key: member.key, line: member.line, file: nil, options: .never, isRight: isRight)
            case .object(let range):
                addEntry(member, EntryFieldsReader(range, of: json, line: member.line), isRight: isRight)
            case .other:
                note(.wrongType, member, "must be a file name, an object with “file”, or null")
                add(key: member.key, line: member.line, file: nil, options: .never, isRight: false)
            }
        }
        index.insert(patterns)
        problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    /// First of all, since the order of a map never matters.
    private mutating func readDefaults(_ members: [JSONScanner.Member], of json: [UInt8]) {
        for member in members where member.key.hasPrefix("$") && member.key != "$schema" {
            guard member.key == "$defaults" else {
                let nearest = NearestName.of(member.key, in: ["$schema", "$defaults"])
                let advice = nearest.map { "did you mean “\($0)”?" } ?? "only $schema and $defaults begin with $"
                note(.reservedKey, member, "is a reserved key: \(advice)")
                continue
            }
            guard case .object(let range) = member.value else {
                note(.wrongType, member, "must be an object with an entry's fields")
                continue
            }
            let reader = EntryFieldsReader(range, of: json, line: member.line)
            note(reader, of: member)
            defaults = reader.fields
        }
    }

    private mutating func addEntry(_ member: JSONScanner.Member, _ reader: EntryFieldsReader, isRight: Bool) {
        note(reader, of: member)
        let fields = reader.fields.merged(withDefaults: defaults)
        var isRight = isRight && reader.problems.isEmpty
        if fields.file == nil, fields.status == nil, reader.problems.isEmpty {
            note(.noFile, member, "names no “file” and sets no “status”: give one of them")
            isRight = false
        }
        add(key: member.key, line: member.line, file: fields.file, options: EntryOptions(fields), isRight: isRight)
    }

    private mutating func add(key: String, line: Int, file: String?, options: EntryOptions, isRight: Bool) {
        let file = file.map { files.shared(FileName(text: $0)) }
        let problemsBefore = problems.count
        defer { if let file, !isRight || problems.count > problemsBefore { namesLeftOut.append(file) } }
        let entry = Entry(key: key, line: Int32(clamping: line), file: file, options: options)
        do {
            if entry.isPattern {
                let pattern = try MatchPattern(key, ignoring: options.ignoreQuery)
                let isRight = checkFile(of: entry, wildcards: pattern.path.wildcards) && isRight
                let other = patternKeys[pattern.text]
                if isRight, other == nil {
                    patternKeys[pattern.text] = entry
                    patterns.append((entry, pattern))
                }
                noteIfEqual(entry, to: other, isRight: isRight, form: pattern.text)
            } else {
                let url = try NormalizedURL(key: key)
                let isRight = checkFile(of: entry, wildcards: 0) && isRight
                let other = isRight ? index.insert(entry, url: url) : index.entry(equalTo: url)
                noteIfEqual(entry, to: other, isRight: isRight, form: url.canonical)
            }
        } catch {
            problems.append(Problem(.invalidKey, key: key, line: Self.line(line), "the key \(error.message)"))
            _ = checkFile(of: entry, wildcards: .max)
        }
    }

    private mutating func checkFile(of entry: Entry, wildcards: Int) -> Bool {
        guard let file = entry.file else { return true }
        guard let problem = files.problem(of: file, wildcardsInKey: wildcards) else { return true }
        problems.append(
            Problem(problem.kind, key: entry.key, line: Self.line(Int(entry.line)), problem.message)
        )
        return false
    }

    private mutating func noteIfEqual(_ entry: Entry, to used: Entry?, isRight: Bool, form: String) {
        guard let other = used ?? wrong[form] else {
            if !isRight { wrong[form] = entry }
            return
        }
        // That the very same key is given twice is said already.
        guard entry.key != other.key else { return }
        let place = other.line > 0 ? " on line \(other.line)" : ""
        problems.append(
            Problem(
                .duplicate,
                key: entry.key,
                line: Self.line(Int(entry.line)),
                "is the same URL as “\(other.key)”\(place): keep one of the entries"
            )
        )
    }

    private mutating func note(_ kind: Problem.Kind, _ member: JSONScanner.Member, _ message: String) {
        problems.append(Problem(kind, key: member.key, line: member.line, message))
    }

    private mutating func note(_ reader: EntryFieldsReader, of member: JSONScanner.Member) {
        problems += reader.problems.map { Problem($0.kind, key: member.key, line: $0.line, $0.message) }
    }

    private static func line(_ line: Int) -> Int? { line > 0 ? line : nil }

    static func problem(_ error: JSONScanner.SyntaxError, in json: [UInt8]) -> Problem {
        let isUTF16 = json.starts(with: [0xFF, 0xFE]) || json.starts(with: [0xFE, 0xFF]) || json.prefix(2).contains(0)
        let message = isUTF16 ? "is UTF-16 or UTF-32, not UTF-8: save it as UTF-8" : error.message
        let kind = error.isOtherJSON && !isUTF16 ? Problem.Kind.notAnObject : .syntax
        let (line, column) = isUTF16 ? (1, 1) : JSONScanner.position(of: error.offset, in: json)
        return Problem(kind, line: line, column: column, "the map \(message)")
    }
}
