package import Foundation

/// A new, empty folder that's removed with its last reference.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("LocalSubstitutionCache-test-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Makes a folder with files, each of which contains its own name.
    package convenience init(files: [String]) throws {
        try self.init()
        for name in files { try write(name, name) }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }

    /// Writes a file, and makes the folders for it.
    @discardableResult
    package func write(_ name: String, _ contents: Data) throws -> URL {
        let file = file(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: file)
        return file
    }

    @discardableResult
    package func write(_ name: String, _ contents: String) throws -> URL {
        try write(name, Data(contents.utf8))
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: true)
    }

    package func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: file(name))
    }

    /// Makes a symbolic link; `target` may be relative to the link's folder.
    package func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name).path, withDestinationPath: target)
    }

    /// Makes a named pipe. Opening one for reading normally waits for a writer.
    package func makePipe(_ name: String) throws {
        guard mkfifo(file(name).path, 0o600) == 0 else { throw POSIXError(.EIO) }
    }
}
