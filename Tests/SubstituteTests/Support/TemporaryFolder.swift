import Foundation

/// A test's own folder, in which the command runs. It's removed with its last reference.
final class TemporaryFolder: Sendable {
    /// The folder where the command runs.
    let url: URL
    /// A folder for what else a run needs: a home, and files for its output.
    let support: URL
    private let root: URL

    init() throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("substitute-test-\(UUID().uuidString)")
        url = root.appendingPathComponent("work", isDirectory: true)
        support = root.appendingPathComponent("support", isDirectory: true)
        for folder in [url, support] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: root)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: url.appendingPathComponent(name)) }

    /// Writes a file, and makes the folders for it.
    func write(_ contents: Data, to name: String) throws {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try contents.write(to: file)
    }

    func write(_ text: String, to name: String) throws {
        try write(Data(text.utf8), to: name)
    }

    /// Writes `substitutions.json`, or a map with another name, and its files.
    func writeMap(_ json: String, as name: String = "substitutions.json", files: [String: String] = [:]) throws {
        try write(json, to: name)
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent("Resources"),
            withIntermediateDirectories: true
        )
        for (file, text) in files { try write(text, to: "Resources/\(file)") }
    }
}
