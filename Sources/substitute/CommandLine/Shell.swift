import Foundation
import HTTPSyntax
import LocalSubstitution

/// The user's current folder, and conversions between files and the words that the user types in a shell.
enum Shell {
    /// The current folder. Its path is the one in the environment variable `PWD` if that path leads to this folder, and
    /// otherwise the one that the system reports.
    ///
    /// The user knows the path in `PWD`. The system's path has no symbolic links, so the user may never have typed it.
    static let folder: URL = {
        let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
        // If a program other than a shell started the command, `PWD` may name another folder.
        guard let path = ProcessInfo.processInfo.environment["PWD"], path.hasPrefix("/"), !leavesFolders(path) else {
            return folder
        }
        let shown = URL(fileURLWithPath: path, isDirectory: true)
        return shown.resolvingSymlinksInPath().path == folder.resolvingSymlinksInPath().path ? shown : folder
    }()

    /// Returns the URL of a path that the user typed.
    ///
    /// A path with `..` starts at the folder's path without symbolic links. Otherwise, the URL could lead to another
    /// folder: the system follows a symbolic link before it goes up with `..`, but `URL` doesn't follow the link.
    ///
    /// - Parameters:
    ///   - isDirectory: Whether the path is a folder's; `nil`, the default, if that isn't known.
    ///   - folder: The folder where a relative path starts. By default, the current folder.
    static func file(_ path: String, isDirectory: Bool? = nil, in folder: URL = Shell.folder) -> URL {
        let base = leavesFolders(path) ? folder.resolvingSymlinksInPath() : folder
        let file =
            isDirectory.map { URL(fileURLWithPath: path, isDirectory: $0, relativeTo: base) }
            ?? URL(fileURLWithPath: path, relativeTo: base)
        return file.absoluteURL
    }

    private static func leavesFolders(_ path: String) -> Bool { path.split(separator: "/").contains("..") }

    /// Returns a text as one word for a shell. Adds single quotes if the text is empty, or has characters that a shell
    /// may interpret.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "_./+-:@%,".utf8.contains($0) }
        // POSIX shells don't interpret any character between single quotes.
        return isPlain && !text.isEmpty ? text : "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    /// Returns a file's path as one word for a shell. The path is relative if the file is in the current folder, and
    /// absolute if it isn't.
    static func word(for file: URL) -> String {
        let here = folder.standardizedFileURL.path + "/"
        let path = file.standardizedFileURL.path
        let relative = path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
        return word(relative.hasPrefix("-") ? "./" + relative : relative)
    }

    /// The words to type to run this command again in the user's current folder, such as `swift run -q substitute`.
    static let invocation: String = invocation(
        of: CommandLine.arguments.first ?? "substitute",
        environment: ProcessInfo.processInfo.environment,
        folder: folder
    )

    /// Returns the words to type to run a program again.
    ///
    /// - Parameters:
    ///   - program: The process's first argument. A shell passes the word that the user typed. `swift run` passes the
    ///     executable's path.
    ///   - environment: The process's environment. If a plugin runs the command, `LOCAL_SUBSTITUTION_PLUGIN` is the
    ///     verb of the package's plugin that can run any subcommand.
    ///   - folder: The current folder. In a plugin, the package's folder.
    static func invocation(of program: String, environment: [String: String], folder: URL) -> String {
        if let verb = environment["LOCAL_SUBSTITUTION_PLUGIN"], !verb.isEmpty {
            // A plugin runs in the package's folder. The user's folder is in `PWD`, which the user's shell has set.
            let user = environment["PWD"].map { URL(fileURLWithPath: $0, isDirectory: true) }
            let isInPackage = user.map { package(around: $0) == resolvedPath(of: folder) } ?? true
            return "swift package\(isInPackage ? "" : " --package-path \(word(folder.path))") \(word(verb))"
        }
        let base = URL(fileURLWithPath: folder.path, isDirectory: true)
        if program.contains("/"), let package = package(around: folder),
            resolvedPath(of: file(program, in: base)).starts(with: package + [".build"])
        {
            return "swift run -q substitute"
        }
        return word(program)
    }

    /// Returns the path components of the package around a folder, as SwiftPM finds it: the nearest folder with a
    /// `Package.swift`, which may be the folder itself or above it. Returns `nil` if none of these folders has one.
    private static func package(around folder: URL) -> [String]? {
        var folder = folder.resolvingSymlinksInPath()
        while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
            guard folder.pathComponents.count > 1 else { return nil }
            folder.deleteLastPathComponent()
        }
        return folder.pathComponents
    }

    private static func resolvedPath(of file: URL) -> [String] {
        file.standardizedFileURL.resolvingSymlinksInPath().pathComponents
    }
}
