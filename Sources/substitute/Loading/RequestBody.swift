import Foundation
import LocalSubstitution

/// The body of a request, from `--data` options in curl's syntax.
enum RequestBody {
    static let option = Option(
        name: "data",
        value: "TEXT",
        help: "the body, from TEXT, @FILE or @- (standard input)",
        repeats: true
    )

    /// Returns the texts and files of all `--data` options, joined with &; `nil` if there are none.
    static func data(_ arguments: Arguments) throws(Failure) -> Data? {
        var parts: [Data] = []
        for value in arguments.all(option.name) {
            parts.append(value.hasPrefix("@") ? try contents(of: String(value.dropFirst())) : Data(value.utf8))
        }
        return parts.isEmpty ? nil : Data(parts.joined(separator: "&".utf8))
    }

    /// Returns a file's bytes without line breaks and null bytes, which curl leaves out too.
    private static func contents(of name: String) throws(Failure) -> Data {
        if name != "-", FileStatus(path: name)?.kind == .folder { throw unreadable(name, "it's a folder") }
        let descriptor = name == "-" ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(name, String(cString: strerror(errno))) }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            return try (file.readToEnd() ?? Data()).filter { ![0x0A, 0x0D, 0].contains($0) }
        } catch {
            throw unreadable(name, error.localizedDescription)
        }
    }

    private static func unreadable(_ name: String, _ reason: String) -> Failure {
        Failure("--data: \(name == "-" ? "Standard input" : "“\(name)”") can't be read: \(reason.sentence)")
    }
}
