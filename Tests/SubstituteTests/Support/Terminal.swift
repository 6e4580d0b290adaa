import Foundation

/// A pseudoterminal, by util-linux's `script`.
enum Terminal {
    #if os(Linux)
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
    #else
    // There the program of this name has other options.
    static let isThere = false
    #endif

    /// Runs the command on a terminal; what it prints on standard error is among the output.
    static func run(_ folder: TemporaryFolder, _ words: [String], _ environment: [String: String]) async throws
        -> Outcome
    {
        let command = ([try Executable.substitute().path] + words).map { "'\($0.replacing("'", with: #"'\''"#))'" }
        return try await folder.run(
            URL(fileURLWithPath: "/usr/bin/script"),
            ["-qec", command.joined(separator: " "), "/dev/null"],
            environment: environment
        )
    }
}
