/// The value of an option or an operand: its placeholder in help texts, and what a shell suggests for it.
///
/// A string literal is the placeholder of a value that can't be suggested.
struct ArgumentValue: Sendable, ExpressibleByStringLiteral {
    enum Suggestions: Sendable, Hashable {
        case none
        /// All files, or those with an extension.
        case files(withExtension: String?)
        case folders
        case words([String])
        case commands
    }

    let placeholder: String
    let suggestions: Suggestions

    init(stringLiteral placeholder: String) { self.init(placeholder, .none) }

    private init(_ placeholder: String, _ suggestions: Suggestions) {
        self.placeholder = placeholder
        self.suggestions = suggestions
    }

    static let file = ArgumentValue("FILE", .files(withExtension: nil))
    static let folder = ArgumentValue("DIR", .folders)
    static let command = ArgumentValue("COMMAND", .commands)

    static func file(withExtension name: String) -> ArgumentValue {
        ArgumentValue("FILE", .files(withExtension: name))
    }

    static func oneOf(_ words: [String], placeholder: String) -> ArgumentValue {
        ArgumentValue(placeholder, .words(words))
    }
}
