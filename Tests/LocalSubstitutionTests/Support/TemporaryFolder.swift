import Dispatch
import Foundation
import Testing

@testable import LocalSubstitution

/// A new, empty folder that is gone when the test is.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("LocalSubstitutionTests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// A folder with files, each of which contains its own name.
    convenience init(files: [String]) throws {
        try self.init()
        for name in files { try write(name, name) }
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }

    /// Writes a file, and makes the folders on the way to it.
    @discardableResult
    func write(_ name: String, _ contents: Data) throws -> URL {
        let file = file(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: file)
        return file
    }

    @discardableResult
    func write(_ name: String, _ contents: String) throws -> URL {
        try write(name, Data(contents.utf8))
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: true)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: file(name))
    }

    /// Makes a symbolic link; `target` may be relative to the link's folder.
    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name).path, withDestinationPath: target)
    }

    /// Makes a named pipe: opening it for reading waits for a writer, unless one takes care.
    func makePipe(_ name: String) throws {
        guard mkfifo(file(name).path, 0o600) == 0 else { throw POSIXError(.EIO) }
    }

    /// Does what must not wait for a named pipe. If it does, that is a failure, and it is let go after ten seconds.
    func expectNoWaiting<Result>(for pipe: String, _ work: () throws -> Result) rethrows -> Result {
        let path = file(pipe).path
        let rescue = DispatchSource.makeTimerSource(queue: .global())
        rescue.schedule(deadline: .now() + 10, repeating: 1)
        rescue.setEventHandler {
            // Opening the other end lets a waiting reader go; where nobody waits, it fails.
            let descriptor = open(path, O_WRONLY | O_NONBLOCK)
            if descriptor >= 0 { close(descriptor) }
        }
        rescue.activate()
        defer { rescue.cancel() }
        let start = ContinuousClock.now
        let result = try work()
        #expect(ContinuousClock.now - start < .seconds(9), "it waited for a writer")
        return result
    }
}

extension TemporaryFolder {
    /// A map of JSON text, with this folder as its resources folder.
    func map(_ json: String, strict: Bool = true) throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(json: Data(json.utf8), resources: url, strict: strict)
    }

    /// Everything that is wrong with the JSON text of a map.
    func problems(_ json: String) -> [SubstitutionMapError.Problem] {
        do throws(SubstitutionMapError) {
            return try map(json).problems
        } catch {
            return error.problems
        }
    }
}

extension SubstitutionMap {
    /// The key and the file name of the substitution for a URL, which is taken as it is written: `URL` would encode some of it.
    func answer(_ url: String) throws -> Answer? {
        try match(NormalizedURL(url)).substitution.map { Answer(key: $0.key, file: $0.fileName) }
    }

    struct Answer: Equatable {
        let key: String
        let file: String?
    }
}
