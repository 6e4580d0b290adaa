#if canImport(Testing)
import Foundation
import LocalSubstitution

/// Which responses a run records. The raw values are the values of the environment variable that turns on recording.
enum RecordingMode: String {
    /// The run loads requests that nothing responds to, and adds their responses to the test's recording.
    case missing
    /// The run also loads requests that are recorded, and replaces the test's recording.
    case all

    static let variable = "LOCAL_SUBSTITUTION_RECORD"

    /// The environment variable's value; `nil` if it isn't set, or is empty.
    private static let value = ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }

    /// The mode of this run; `nil` if the environment variable isn't set, or has an invalid value.
    static let ofRun = value.flatMap { Self(rawValue: $0) }

    static var isOn: Bool { ofRun != nil }

    /// A message that says what's wrong with the environment variable's value; `nil` if the value is valid, or if the
    /// variable isn't set.
    static let problem: String? = value.flatMap { value in
        guard !isOn else { return nil }
        let advice = "Set it to “missing” to record missing responses, or to “all” to record all responses again."
        return "\(variable) is “\(value)”. \(advice) To record nothing, remove the variable.".printable
    }

    /// Returns the shell command that records a test's missing responses.
    ///
    /// - Parameter test: The value of the option `--filter`, in quotes for a shell.
    static func command(_ test: String) -> String { "\(variable)=missing swift test --filter \(test)" }
}
#endif
