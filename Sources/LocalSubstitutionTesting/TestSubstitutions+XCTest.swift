#if canImport(Testing)
import Guarded
public import LocalSubstitution
import Testing

/// Substitutions for XCTest's `setUpWithError()` and `tearDownWithError()`.
extension TestSubstitutions {
    private enum Last: Sendable {
        /// There was no call, or the last one was `end`.
        case ended
        /// A call of `begin` that threw an error.
        case failed
        case begun(SubstitutionScope, place: String)
    }

    /// The last call of `begin` or `end`.
    private static let last = Guarded(Last.ended)

    /// The substitutions that have begun; `nil` if there are none.
    static var begun: TestSubstitutions? {
        last.withLock { if case .begun(let scope, _) = $0 { scope.substitutions } else { nil } }
    }

    /// Begins an XCTest test's substitutions with a map file.
    ///
    /// Until ``end(fileID:line:)``, ``current`` returns these substitutions, and `URLSession.substituted` returns their
    /// session, on all threads:
    ///
    /// ```swift
    /// override func setUpWithError() throws {
    ///     try TestSubstitutions.begin("Fixtures/shop.json", test: name)
    /// }
    ///
    /// override func tearDownWithError() throws {
    ///     try TestSubstitutions.end()
    /// }
    /// ```
    ///
    /// Inside `withSubstitutions`, that call's substitutions are used instead. In Swift Testing, use the trait.
    ///
    /// - Parameters:
    ///   - map: The path of the map file, or of an HTTP archive (`.har`). A relative path starts at the folder of the
    ///     test's file.
    ///   - test: The test's `name`, a property of `XCTestCase`. The test's recording is named for it.
    ///   - unmatched: What happens to requests that no entry matches. By default, they fail, and ``end(fileID:line:)``
    ///     throws an error that explains each.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By
    ///     default, the folder `Substitutes` beside the map, or else the folder `Resources` there. If neither exists, the
    ///     map's own folder is used.
    ///   - handlers: The closures that entries name in their field `handler`. By default, none.
    ///   - sharedSession: Whether requests with `URLSession.shared` are also intercepted; `false` by default. If `true`, the
    ///     process must not have used that session before the first call; on Linux, it must not have used any session.
    ///   - redact: Changes or excludes each response before a recording run (with `LOCAL_SUBSTITUTION_RECORD` set) writes
    ///     it, for example to remove tokens; see `LocalSubstitution.RecordedResponse`. By default, responses aren't
    ///     changed.
    ///   - fileID: The file that errors name. By default, the caller's.
    ///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
    ///   - line: The line that errors name. By default, the caller's.
    ///   - column: The column of the call. By default, the caller's.
    /// - Throws: An error that lists every problem with the map. If the previous test didn't call
    ///   ``end(fileID:line:)``, the error names that test's call of `begin`, and the test after this one begins afresh.
    ///   In a Swift Testing test, the error names the trait to use instead.
    public static func begin(
        // Not `String`, for the same reason as in the trait.
        _ map: some StringProtocol,
        test: String,
        unmatched: Unmatched = .issue,
        resources: String? = nil,
        handlers: [String: SubstitutionMap.Handler] = [:],
        sharedSession: Bool = false,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) throws {
        try begin(
            SubstitutionScope.Options(
                source: .file(String(map), resources: resources, testFile: filePath),
                unmatched: unmatched,
                handlers: handlers,
                sharedSession: sharedSession,
                redact: redact,
                place: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
                function: test,
                nameInXCTest: test
            )
        )
    }

    /// Begins an XCTest test's substitutions with entries in code.
    ///
    /// For the parameters and errors, see
    /// ``begin(_:test:unmatched:resources:handlers:sharedSession:redacting:fileID:filePath:line:column:)``.
    public static func begin(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        test: String,
        unmatched: Unmatched = .issue,
        resources: String? = nil,
        sharedSession: Bool = false,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) throws {
        try begin(
            SubstitutionScope.Options(
                source: .entries(entries, resources: resources, testFile: filePath),
                unmatched: unmatched,
                sharedSession: sharedSession,
                redact: redact,
                place: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
                function: test,
                nameInXCTest: test
            )
        )
    }

    private static func begin(_ options: SubstitutionScope.Options) throws {
        guard Test.current == nil else {
            last.withLock { if case .ended = $0 { $0 = .failed } }
            throw Complaint("TestSubstitutions.begin is for XCTest. Use the trait .substituting(…) in Swift Testing.")
        }
        if case .begun(let scope, let place) = replaceLast(with: .failed) {
            // What the other test would have thrown isn't lost.
            let problems = Result { try scope.end(.success(())) }
            let rest = if case .failure(let error) = problems { "\n\(error)" } else { "" }
            throw options.complaint(
                "The substitutions that began at \(place) haven't ended. Call TestSubstitutions.end() in "
                    + "tearDownWithError().\(rest)"
            )
        }
        let scope = try options.scope(try options.loaded())
        scope.begin()
        _ = replaceLast(with: .begun(scope, place: options.location))
    }

    /// Ends an XCTest test's substitutions. From now on, the test's sessions fail every request.
    ///
    /// Does nothing if the last call of `begin` threw an error.
    ///
    /// - Parameters:
    ///   - fileID: The file that errors name. By default, the caller's.
    ///   - line: The line that errors name. By default, the caller's.
    /// - Throws: One error with what would be issues in Swift Testing, such as unmatched requests. Without a call of
    ///   `begin` before, an error that says so.
    public static func end(fileID: String = #fileID, line: Int = #line) throws {
        switch replaceLast(with: .ended) {
        case .failed: return
        case .begun(let scope, _): try scope.end(.success(()))
        case .ended:
            throw complaint(
                "No substitutions have begun. Call TestSubstitutions.begin(…, test: name) in setUpWithError().",
                fileID: fileID,
                line: line
            )
        }
    }

    private static func replaceLast(with next: Last) -> Last {
        last.withLock { last in
            defer { last = next }
            return last
        }
    }
}
#endif
