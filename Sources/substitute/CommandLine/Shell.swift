import Foundation
import LocalSubstitution

/// Where the user's shell is, and words as the user types them there.
enum Shell {
    /// The current folder: `PWD` if it names that folder; otherwise, the system's name for it.
    ///
    /// The system's name has no symbolic links, so a message with that name would show a path that the user never typed.
    static let folder: URL = {
        let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
        // `PWD` names another folder if the command wasn't started by a shell.
        guard let path = ProcessInfo.processInfo.environment["PWD"], path.hasPrefix("/"), !leavesFolders(path) else {
            return folder
        }
        let shown = URL(fileURLWithPath: path, isDirectory: true)
        return shown.resolvingSymlinksInPath().path == folder.resolvingSymlinksInPath().path ? shown : folder
    }()

    /// Returns the file or folder that a user names.
    ///
    /// The system follows a symbolic link before `..`, but `URL` doesn't. So a path with `..` begins at the system's name.
    static func file(_ path: String, isDirectory: Bool? = nil, in folder: URL = Shell.folder) -> URL {
        let base = leavesFolders(path) ? folder.resolvingSymlinksInPath() : folder
        let file =
            isDirectory.map { URL(fileURLWithPath: path, isDirectory: $0, relativeTo: base) }
            ?? URL(fileURLWithPath: path, relativeTo: base)
        return file.absoluteURL
    }

    private static func leavesFolders(_ path: String) -> Bool { path.split(separator: "/").contains("..") }

    /// Returns the text as a word, in quotes if a shell would change it.
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

    /// The words that start the command again where the user is, such as `swift run -q substitute`.
    static let invocation: String = invocation(
        of: CommandLine.arguments.first ?? "substitute",
        environment: ProcessInfo.processInfo.environment,
        folder: folder
    )

    /// Returns the words that start a program again.
    ///
    /// - Parameters:
    ///   - program: The process's first argument. From a shell, it's what was typed; from `swift run`, a path.
    ///   - environment: `LOCAL_SUBSTITUTION_PLUGIN` is the verb of the plugin that runs any command. The plugins set it.
    ///   - folder: The current folder. A plugin's is the package's.
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

    /// Returns the path of the package that SwiftPM finds from a folder: the first one upwards with a manifest.
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
