import Dispatch
import Foundation
import Testing

@testable import LocalSubstitution

extension TemporaryFolder {
    /// Runs code that must not wait for a named pipe. If it waits for ten seconds, it's released, and the test fails.
    func expectNoWaiting<Result>(for pipe: String, _ work: () throws -> Result) rethrows -> Result {
        let path = file(pipe).path
        let rescue = DispatchSource.makeTimerSource(queue: .global())
        rescue.schedule(deadline: .now() + 10, repeating: 1)
        rescue.setEventHandler {
            // Opening the other end releases a waiting reader. If nothing waits, opening fails.
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
    /// Returns a map with this JSON, and this folder as its resources folder.
    func map(
        _ json: String,
        invalidEntries: SubstitutionMap.InvalidEntries = .reject,
        handlers: [String: SubstitutionMap.Handler] = [:]
    ) throws(SubstitutionMapError) -> SubstitutionMap {
        try SubstitutionMap(json: Data(json.utf8), resources: url, invalidEntries: invalidEntries, handlers: handlers)
    }

    /// Returns all problems of a map's JSON.
    func problems(
        _ json: String,
        handlers: [String: SubstitutionMap.Handler] = [:]
    ) -> [SubstitutionMap.Problem] {
        do throws(SubstitutionMapError) {
            return try map(json, handlers: handlers).problems
        } catch {
            return error.problems
        }
    }
}

extension SubstitutionMap {
    /// Returns the key and the file name of the substitution for a URL. The URL is used as written, since `URL` would encode some
    /// of it.
    func answer(_ url: String) throws -> NamedFile? {
        try match(NormalizedURL(url)).substitution.map { NamedFile(key: $0.key, file: $0.fileName) }
    }

    struct NamedFile: Equatable {
        let key: String
        let file: String?
    }
}
