import LocalSubstitution

/// The words after a subcommand's name: `--name value`, `--name=value`, `--flag`, and operands. After `--` all are operands.
struct Arguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(_ words: [String], options: [Option]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let isLong = parts[0].hasPrefix("--")
            let name = parts[0] == "-h" ? "help" : String(parts[0].dropFirst(isLong ? 2 : 0))
            guard isLong || parts[0] == "-h", let option = options.first(where: { $0.name == name })
            else {
                throw Self.unknown(parts[0], options)
            }
            try add(option, given: parts.dropFirst().first, &rest)
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }
    func value(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    private mutating func add(
        _ option: Option,
        given: String?,
        _ rest: inout ArraySlice<String>
    ) throws(Failure) {
        if values[option.name] != nil, !option.repeats, option.value != nil {
            throw Failure(usage: "--\(option.name) is given twice")
        }
        guard let placeholder = option.value else {
            guard given == nil else { throw Failure(usage: "--\(option.name) takes no value") }
            values[option.name] = []
            return
        }
        // A word that looks like an option is one: --name=value passes it all the same.
        guard let value = given ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()) else {
            throw Failure(usage: "--\(option.name) needs a value: --\(option.name) \(placeholder)")
        }
        values[option.name, default: []].append(value)
    }

    private static func unknown(_ word: String, _ options: [Option]) -> Failure {
        let nearest = NearestName.of(word, in: options.map { "--" + $0.name })
        let advice = nearest.map { "did you mean \($0)?" } ?? "--help lists those it knows"
        return Failure(usage: "unknown option \(word): \(advice)")
    }
}
