import Foundation

/// A subcommand of `substitute`: what help texts and completions say about it, and what it does.
struct Subcommand: Sendable {
    let name: String
    /// The operands in the usage line, such as `URL…`.
    var operands = ""
    /// A description in one line, for the overview.
    let summary: String
    /// A longer description, at most 80 columns wide.
    let details: String
    var options: [Option] = []
    /// Whether the subcommand works on a map, and so has the options for maps.
    var usesMap = true
    /// What a shell suggests for each operand, in order; empty for no suggestions.
    var operandValues: [Value] = []
    let run: @Sendable (Arguments, Output) async throws -> ExitStatus

    /// The exit status of the process.
    enum ExitStatus: Int32, Sendable {
        case done = 0
        /// Something failed, or `check` found an error.
        case failed = 1
        /// The command line can't be understood (`EX_USAGE` of sysexits.h).
        case usage = 64
        /// No error was found, but some URLs couldn't be reached (`EX_TEMPFAIL`).
        case tryAgain = 75
    }

    /// An option: `--name`, or `--name VALUE`.
    struct Option: Sendable {
        let name: String
        /// The kind of value; `nil` for a flag.
        var value: Value?
        let help: String
        /// Whether it may be given more than once.
        var repeats = false

        static func flag(_ name: String, help: String) -> Option { Option(name: name, help: help) }

        static func option(_ name: String, _ value: Value, help: String, repeats: Bool = false) -> Option {
            Option(name: name, value: value, help: help, repeats: repeats)
        }
    }

    /// The value of an option or an operand: its placeholder in help texts, and what a shell suggests for it.
    ///
    /// A string literal creates a value with this placeholder and without suggestions.
    struct Value: Sendable, ExpressibleByStringLiteral {
        enum Suggestions: Sendable, Hashable {
            case none
            /// Folders, and files whose names match a pattern such as `*` or `*.json`. The pattern `*/` suggests only
            /// folders.
            case names(String)
            case words([String])
            case commands
        }

        let placeholder: String
        let suggestions: Suggestions

        static let file = Value("FILE", .names("*"))
        static let folder = Value("DIR", .names("*/"))
        static let command = Value("COMMAND", .commands)

        static func file(withExtension name: String) -> Value { Value("FILE", .names("*.\(name)")) }
        static func oneOf(_ words: [String], placeholder: String) -> Value { Value(placeholder, .words(words)) }

        init(stringLiteral placeholder: String) { self.init(placeholder, .none) }

        private init(_ placeholder: String, _ suggestions: Suggestions) {
            self.placeholder = placeholder
            self.suggestions = suggestions
        }
    }

    /// The version that the command prints.
    static let version = "1.0.0"

    /// The options that every subcommand with a map has.
    private static let commonOptions: [Option] = [
        .option("map", .file(withExtension: "json"), help: "the map (default: ./substitutions.json)"),
        .option("resources", .folder, help: "the map's files (default: Resources beside the map)"),
        .flag("json", help: "print JSON"),
    ]

    /// The subcommand's options, the common ones that it doesn't redefine, and `--help`.
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
            Usage: substitute \(name) [options]\(operands.isEmpty ? "" : " \(operands)")

            \(details)

            Options:
            \(options.joined(separator: "\n"))
            """
    }
}
