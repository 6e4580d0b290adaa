#if canImport(Testing)
import Foundation
import LocalSubstitution
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A lock that lets only one test's map at a time answer `URLSession.shared`.
enum SharedSession {
    private static let turn = Places(1, patience: .infinity)
    private static let hasTurn = TaskLocal(wrappedValue: false)

    /// Waits until no other test's map answers `URLSession.shared`, then runs a body. If the test already holds the
    /// lock, runs the body at once.
    ///
    /// - Throws: The body's error, or `CancellationError` if the task is cancelled while it waits.
    static func inTurn<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard !hasTurn.get() else { return try await body() }
        guard await turn.take() else { throw CancellationError() }
        defer { turn.giveBack() }
        return try await hasTurn.withValue(true, operation: body)
    }

    /// - Throws: An error if `URLSession.shared` can't be answered.
    static func check() throws(SubstitutionScope.Failure) {
        #if os(watchOS)
        throw SubstitutionScope.Failure([
            "watchOS has no custom protocols, so no map can answer URLSession.shared. Leave out sharedSession, and give the code a "
                + "session."
        ])
        #else
        guard !LocalSubstitutionCache.reachesSharedSession else { return }
        throw SubstitutionScope.Failure([
            "A session was used before this call, so no map can answer URLSession.shared. "
                + "Use the trait .substituting(…, sharedSession: true), which takes effect before any test runs. Don't "
                + "use a session before that."
        ])
        #endif
    }

    /// Returns a closure that decides whether the running test's map answers a request to `URLSession.shared`. The map
    /// answers the test's own requests and those made outside any test, such as in a detached task.
    static func requests(of log: TestSubstitutions.RequestLog) -> @Sendable (URLRequest) -> Bool {
        let owner = Test.current?.id
        return { request in
            let test = Test.current?.id
            if test == owner { log.noteOwn(request) }
            return test == owner || test == nil
        }
    }
}
#endif
