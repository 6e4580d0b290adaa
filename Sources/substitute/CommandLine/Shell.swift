import Foundation
import LocalSubstitution

/// The user's current folder, and words as the user types them in a shell.
enum Shell {
    /// The current folder: the path in `PWD` if that's the same folder; otherwise, the system's path.
    ///
    /// The system's path has no symbolic links, so a message would show a path that the user never typed.
    static let folder: URL = {
        let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
        // `PWD` names another folder if the command wasn't started by a shell.
        guard let path = ProcessInfo.processInfo.environment["PWD"], path.hasPrefix("/"), !leavesFolders(path) else {
            return folder
        }
        let shown = URL(fileURLWithPath: path, isDirectory: true)
        return shown.resolvingSymlinksInPath().path == folder.resolvingSymlinksInPath().path ? shown : folder
    }()

    /// Returns the URL of a path that the user typed.
    ///
    /// The system follows a symbolic link before `..`, but `URL` doesn't. So a path with `..` is resolved from the
    /// folder's path without symbolic links.
    static func file(_ path: String, isDirectory: Bool? = nil, in folder: URL = Shell.folder) -> URL {
        let base = leavesFolders(path) ? folder.resolvingSymlinksInPath() : folder
        let file =
            isDirectory.map { URL(fileURLWithPath: path, isDirectory: $0, relativeTo: base) }
            ?? URL(fileURLWithPath: path, relativeTo: base)
        return file.absoluteURL
    }

    private static func leavesFolders(_ path: String) -> Bool { path.split(separator: "/").contains("..") }

    /// Returns the text as one shell word, in quotes if a shell would change it.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "_./+-:@%,".utf8.contains($0) }
        // In single quotes, POSIX shells change nothing.
        return isPlain && !text.isEmpty ? text : "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    /// Returns a file's path as a word, relative to the current folder if the file is in it.
    static func word(for file: URL) -> String {
        let here = folder.standardizedFileURL.path + "/"
        let path = file.standardizedFileURL.path
        let relative = path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
        return word(relative.hasPrefix("-") ? "./" + relative : relative)
    }

    /// The words that run the command again in the user's current folder, such as `swift run -q substitute`.
    static let invocation: String = invocation(
        of: CommandLine.arguments.first ?? "substitute",
        environment: ProcessInfo.processInfo.environment,
        folder: folder
    )

    /// Returns the words that run a program again.
    ///
    /// - Parameters:
    ///   - program: The process's first argument. A shell passes the word that the user typed; `swift run` passes a
    ///     path.
    ///   - environment: The environment. Plugins set `LOCAL_SUBSTITUTION_PLUGIN` to the verb of the plugin that can run
    ///     any command.
    ///   - folder: The current folder; in a plugin, the package's folder.
    static func invocation(of program: String, environment: [String: String], folder: URL) -> String {
        if let verb = environment["LOCAL_SUBSTITUTION_PLUGIN"], !verb.isEmpty {
            // A shell says where the user is.
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

    /// Returns the path components of the package that SwiftPM finds from a folder: the nearest one upwards with a
    /// manifest; `nil` if there's none.
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
