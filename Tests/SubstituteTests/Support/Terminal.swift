import Foundation

/// A pseudoterminal, made by util-linux's `script`.
enum Terminal {
    #if os(Linux)
    static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
    #else
    // Elsewhere, `script` has different options.
    static let isThere = false
    #endif

    /// Runs the command on a terminal. The output includes standard error.
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
