import Foundation

/// A subcommand of `substitute`: its name and options, the texts that help and completions show, and the function that
/// runs it.
struct Subcommand: Sendable {
    let name: String
    /// The operands, in order; empty for a subcommand without operands. The usage line shows their placeholders.
    var operands: [Value] = []
    /// A short description for one line of the overview.
    let summary: String
    /// A longer description for the subcommand's help. Its lines are at most 80 columns wide.
    let details: String
    var options: [Option] = []
    /// For each option that was removed, by its name, a sentence for the failure that says what to use instead.
    var removedOptions: [String: String] = [:]
    /// Whether the subcommand has the options `--map`, `--resources` and `--json`; `true` by default.
    var usesMap = true
    let run: @Sendable (Arguments, Output) async throws -> ExitStatus

    enum ExitStatus: Int32, Sendable {
        /// The subcommand succeeded.
        case done = 0
        /// The subcommand failed, or `check` found an error.
        case failed = 1
        /// The command line is invalid (`EX_USAGE` of sysexits.h).
        case usage = 64
        /// `check` found no error, but couldn't reach all URLs (`EX_TEMPFAIL` of sysexits.h).
        case tryAgain = 75
    }

    /// An option of a subcommand: a flag `--name`, or `--name VALUE`.
    struct Option: Sendable {
        /// Without `--`.
        let name: String
        /// `nil` for a flag.
        var value: Value?
        let help: String
        /// Whether a command line may contain the option more than once; `false` by default. A flag may always be
        /// repeated.
        var repeats = false

        static func flag(_ name: String, help: String) -> Option { Option(name: name, help: help) }

        static func option(_ name: String, _ value: Value, help: String, repeats: Bool = false) -> Option {
            Option(name: name, value: value, help: help, repeats: repeats)
        }
    }

    /// The value of an option or an operand: a placeholder for help texts, and suggestions for a shell.
    ///
    /// A string literal is the placeholder of a value without suggestions.
    struct Value: Sendable, ExpressibleByStringLiteral {
        let placeholder: String
        /// Whether the value is the path of a file or folder.
        private(set) var isPath = false
        /// Returns suggestions for a shell, in the form that ``Subcommand/suggestions(for:)`` describes.
        let suggestions: @Sendable () -> [String]

        static let folder = path("DIR", "*/")
        static let mapFile = path("FILE", "*.json")

        static func file(_ placeholder: String = "FILE", _ names: String = "*") -> Value { path(placeholder, names) }

        private static func path(_ placeholder: String, _ names: String) -> Value {
            var value = Value(placeholder, [names])
            value.isPath = true
            return value
        }

        init(stringLiteral placeholder: String) { self.init(placeholder, []) }

        init(_ placeholder: String, _ suggestions: @autoclosure @escaping @Sendable () -> [String]) {
            self.placeholder = placeholder
            self.suggestions = suggestions
        }
    }

    static let version = "1.0.0"

    private static let commonOptions: [Option] = [
        .option("map", .mapFile, help: "the map (default: ./substitutions.json)"),
        .option("resources", .folder, help: "the map's files (default: Substitutes beside the map)"),
        .flag("json", help: "print JSON"),
    ]

    /// The subcommand's own options, then the common options if it uses a map, then `--help`. A subcommand's own option
    /// replaces a common option of the same name.
    var allOptions: [Option] {
        let common = usesMap ? Self.commonOptions : []
        return options + common.filter { common in !options.contains { $0.name == common.name } }
            + [.flag("help", help: "print this help")]
    }

    var helpText: String {
        let options = allOptions.map { option in
            ("  --\(option.name)" + (option.value.map { " \($0.placeholder)" } ?? ""))
                .padding(toLength: 27, withPad: " ", startingAt: 0) + option.help
        }
        return """
            Usage: substitute \(name) [options]\(operands.map { " \($0.placeholder)" }.joined())

            \(details)

            Options:
            \(options.joined(separator: "\n"))
            """
    }
}
