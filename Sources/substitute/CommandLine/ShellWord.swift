import Foundation
import LocalSubstitution

/// Text as a word of a command line.
enum ShellWord {
    /// Returns the text, in quotes if a shell would change it.
    static func text(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "_./+-:@%,".utf8.contains($0) }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    /// Returns the text in single quotes, in which POSIX shells change nothing.
    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
