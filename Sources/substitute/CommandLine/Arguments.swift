import LocalSubstitution

/// The words after a subcommand's name: `--name value`, `--name=value`, `--flag`, and operands. Every word after `--` is an
/// operand.
struct Arguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(_ words: [String], for command: Subcommand) throws(Failure) {
        let options = command.allOptions
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
            let name = parts[0] == "-h" ? "--help" : parts[0]
            guard let option = options.first(where: { "--" + $0.name == name }) else {
                // --help isn't suggested, since the advice names it if no option is near.
                let names = options.map { "--" + $0.name }.filter { $0 != "--help" }
                let nearest = NearestName.of(parts[0], in: names)
                let advice = nearest.map { "Did you mean “\($0)”?" } ?? "Use --help to list the options."
                throw Failure(usage: "“\(parts[0])” isn't an option of \(command.name). \(advice)")
            }
            try add(option, given: parts.dropFirst().first, &rest)
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }
    func value(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    private mutating func add(
        _ option: Subcommand.Option,
        given: String?,
        _ rest: inout ArraySlice<String>
    ) throws(Failure) {
        guard let placeholder = option.value?.placeholder else {
            if let given { throw Failure(usage: "--\(option.name) doesn't take a value. Leave out “=\(given)”.") }
            values[option.name] = []
            return
        }
        guard values[option.name] == nil || option.repeats else {
            throw Failure(usage: "--\(option.name) is given twice. Give it once.")
        }
        // A word that begins with -- is an option, not a value. --name=value can pass such a value too.
        guard let value = given ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()) else {
            throw Failure(usage: "--\(option.name) needs a value. Use --\(option.name) \(placeholder).")
        }
        values[option.name, default: []].append(value)
    }
}
