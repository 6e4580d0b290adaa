import LocalSubstitution

/// The words after a subcommand's name, as options and operands.
///
/// An option is `--flag`, `--name value` or `--name=value`. All other words are operands. So is every word after `--`.
struct Arguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    /// - Throws: A failure with the status `usage` if the subcommand doesn't know an option, if an option's value is
    ///   missing or an empty path, if a flag has a value, or if an option that has a value and doesn't repeat is given
    ///   twice. Also if an operand is an empty path.
    init(_ words: [String], for command: Subcommand) throws(Complaint) {
        let options = command.allOptions
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0] == "-h" ? "--help" : parts[0]
            guard let option = options.first(where: { "--" + $0.name == name }) else {
                let removed = command.removedOptions[String(name.drop { $0 == "-" })]
                // The suggestions leave out --help: if no other name is similar, the advice below names it.
                let names = options.map { "--" + $0.name }.filter { $0 != "--help" }
                let nearest = NearestName.of(parts[0], in: names)
                let advice =
                    removed ?? nearest.map { "Did you mean “\($0)”?" } ?? "Use --help to list the options."
                throw Complaint(usage: "“\(parts[0])” isn't an option of \(command.name). \(advice)")
            }
            try add(option, given: parts.dropFirst().first, &rest)
        }
        try checkPaths(command)
    }

    /// Names are without `--`.
    func has(_ name: String) -> Bool { values[name] != nil }
    /// The last value if the option repeats; `nil` for a flag, or if the option isn't given.
    func value(_ name: String) -> String? { values[name]?.last }
    /// In order; empty for a flag, or if the option isn't given.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// Parses all values of an option, and returns the results in order; empty if the option isn't given.
    ///
    /// - Parameters:
    ///   - kind: What a value is, such as `a port`, for the failure.
    ///   - advice: What to write instead, as a sentence for the failure.
    /// - Throws: A failure with the status `usage` if `parse` returns `nil` for a value.
    func all<Value>(
        _ name: String,
        as kind: String,
        _ advice: String,
        _ parse: (String) -> Value?
    ) throws(Complaint) -> [Value] {
        try all(name).map { text throws(Complaint) in
            guard let value = parse(text) else { throw Complaint(usage: "“\(text)” isn't \(kind). \(advice)") }
            return value
        }
    }

    /// Throws a failure with the status `usage` if an operand that must be a path is empty.
    private func checkPaths(_ command: Subcommand) throws(Complaint) {
        for (operand, kind) in zip(operands, command.operands) where kind.isPath && operand.isEmpty {
            let name = kind.placeholder.filter { !"[]".contains($0) }
            throw Complaint(
                usage: "\(command.name): The path \(name) is an empty text. Name a file. "
                    + "If you used a variable, set it first."
            )
        }
    }

    private mutating func add(
        _ option: Subcommand.Option,
        given: String?,
        _ rest: inout ArraySlice<String>
    ) throws(Complaint) {
        guard let kind = option.value else {
            if let given { throw Complaint(usage: "--\(option.name) doesn't take a value. Leave out “=\(given)”.") }
            values[option.name] = []
            return
        }
        guard values[option.name] == nil || option.repeats else {
            throw Complaint(usage: "--\(option.name) is given twice. Give it once.")
        }
        // A word that begins with -- is the next option, not this option's value. With --name=value, a value can begin
        // with --.
        guard let value = given ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst()) else {
            throw Complaint(usage: "--\(option.name) needs a value. Use --\(option.name) \(kind.placeholder).")
        }
        // An empty path would be the current folder.
        guard !kind.isPath || !value.isEmpty else {
            throw Complaint(
                usage: "The value of --\(option.name) is empty. Use --\(option.name) \(kind.placeholder). "
                    + "If you used a variable, set it first."
            )
        }
        values[option.name, default: []].append(value)
    }
}
