#if canImport(Testing)
import LocalSubstitution
import Testing

/// A lock for `URLSession.shared`, which can use only one test's map at a time.
enum SharedSession {
    private static let turn = Places(1)
    private static let hasTurn = TaskLocal(wrappedValue: false)

    /// Waits for the lock without a time limit, runs a body, then releases the lock. If the task already holds the
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

    /// Checks that `URLSession.shared` can use a test's map.
    ///
    /// - Parameters:
    ///   - isReached: Whether `URLSession.shared` can use the package's protocols.
    ///   - isOfXCTest: Whether there's no current test of Swift Testing.
    /// - Throws: An error on watchOS, or if a session was used before the package could prepare `URLSession.shared`.
    static func check(
        _ traits: LoaderTraits = .current,
        isReached: @autoclosure () -> Bool = LocalSubstitutionCache.reachesSharedSession,
        isOfXCTest: Bool = Test.current == nil
    ) throws(Complaint) {
        guard traits.contains(.hasProtocols) else {
            throw Complaint(
                "watchOS has no custom URL protocols, so requests with URLSession.shared can't be intercepted. Leave "
                    + "out sharedSession, and pass URLSession.substituted to the code."
            )
        }
        guard !isReached() else { return }
        let fix =
            isOfXCTest
            ? "Run the tests with swift test --parallel, which gives each XCTest test a process of its own, until all "
                + "test classes that make or use a session call withSubstitutions or TestSubstitutions.begin first. A "
                + "stored property such as “let client = Client()” is initialized before any test runs. Write “lazy var”, or "
                + "assign it in setUpWithError() after begin."
            : "Use the trait .substituting(…, sharedSession: true), which takes effect before any test runs. If the "
                + "test already has the trait, don't use a session before the first test runs."
        throw Complaint(
            "A session was used before this call, so requests with URLSession.shared can't be intercepted. \(fix)"
        )
    }
}
#endif
