#if canImport(Testing)
public import LocalSubstitution
import Testing

/// Responds to requests with a map file while a body runs. Use this in a part of a test, or in an XCTest method.
///
/// ```swift
/// func testRefusedOrder() async throws {
///     try await withSubstitutions("Fixtures/checkout.json") {
///         let refusal = try await Shop(session: .substituted).order("socks")
///         XCTAssertEqual(refusal, "sold out\n")
///     }
/// }
/// ```
///
/// Inside the body, ``TestSubstitutions/current`` has this call's map instead of a trait's.
///
/// - Parameters:
///   - map: The path of the map file, or of an HTTP archive (`.har`). A relative path starts at the folder of the
///     test's file.
///   - unmatched: What happens to requests that no entry matches. By default, they fail and are issues of the test.
///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By
///     default, the folder `Substitutes` beside the map, or else the folder `Resources` there. If neither exists, the
///     map's own folder is used.
///   - handlers: The closures that entries name in their field `handler`. By default, none.
///   - sharedSession: Whether `URLSession.shared` also uses the map while the body runs; `false` by default. If `true`,
///     the process must not have used `URLSession.shared` before this call; on Linux, it must not have used any
///     session. The trait has no such restriction.
///   - redact: Changes or excludes each response before a recording run (with `LOCAL_SUBSTITUTION_RECORD` set) writes
///     it, for example to remove tokens; see `LocalSubstitution.RecordedResponse`. By default, responses aren't
///     changed.
///   - isolation: The actor that runs the body. By default, the caller's.
///   - fileID: The file where issues are shown. By default, the caller's.
///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
///   - line: The line where issues are shown. By default, the caller's.
///   - column: The column where issues are shown. By default, the caller's.
///   - test: In XCTest, the test's `name`. The name of the recording, and the command that records the test, then
///     contain the test's class and method. By default, they contain only the calling function.
///   - function: The test's name if there's neither a Swift Testing test nor an argument `test`. By default, the
///     calling function.
///   - body: The code to run.
/// - Returns: The body's result.
/// - Throws: The body's error, or an error that lists every problem with the map. In XCTest, unmatched requests and
///   other problems that would be issues in Swift Testing are thrown as one error after the body has ended.
public func withSubstitutions<Result>(
    // Not `String`, for the same reason as in the trait.
    _ map: some StringProtocol,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    handlers: [String: SubstitutionMap.Handler] = [:],
    sharedSession: Bool = false,
    redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    test: String? = nil,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    // A `SourceLocation` parameter would be shorter, but its default value is a macro of Testing, which XCTest tests
    // don't import.
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.file(String(map), resources: resources, testFile: filePath)
    return try await run(
        .init(
            source: source,
            unmatched: unmatched,
            handlers: handlers,
            sharedSession: sharedSession,
            redact: redact,
            place: place,
            function: function,
            nameInXCTest: test
        ),
        body
    )
}

/// Responds to requests with entries in code while a body runs.
///
/// ```swift
/// try await withSubstitutions(["https://www.example.com/user": .json(["name": "Ada"])]) {
///     let (body, _) = try await URLSession.substituted.data(from: url)
///     XCTAssertTrue(String(decoding: body, as: UTF8.self).contains("Ada"))
/// }
/// ```
///
/// The entries' keys are URLs and match patterns. For the other parameters, see
/// ``withSubstitutions(_:unmatched:resources:handlers:sharedSession:redacting:isolation:fileID:filePath:line:column:test:function:_:)``.
///
/// - Returns: The body's result.
/// - Throws: The body's error, or an error that lists every problem with the entries. In XCTest, unmatched requests and
///   other problems that would be issues in Swift Testing are thrown as one error after the body has ended.
public func withSubstitutions<Result>(
    _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    sharedSession: Bool = false,
    redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    test: String? = nil,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.entries(entries, resources: resources, testFile: filePath)
    return try await run(
        .init(
            source: source,
            unmatched: unmatched,
            sharedSession: sharedSession,
            redact: redact,
            place: place,
            function: function,
            nameInXCTest: test
        ),
        body
    )
}

/// Responds to requests with a map file while a synchronous body runs, such as that of an XCTest method that isn't
/// async.
///
/// The async form has the same parameters, but waits for its turn with `sharedSession`:
/// ``withSubstitutions(_:unmatched:resources:handlers:sharedSession:redacting:isolation:fileID:filePath:line:column:test:function:_:)``.
/// This form doesn't wait: XCTest runs one test at a time. In a Swift Testing test, use the trait for `sharedSession`.
///
/// - Returns: The body's result.
/// - Throws: The errors of the async form. In a Swift Testing test with `sharedSession: true`, an error that names the
///   trait.
@_disfavoredOverload  // Otherwise, async code whose body has no `await` may get this form.
public func withSubstitutions<Result>(
    // Not `String`, for the same reason as in the trait.
    _ map: some StringProtocol,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    handlers: [String: SubstitutionMap.Handler] = [:],
    sharedSession: Bool = false,
    redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    test: String? = nil,
    function: String = #function,
    _ body: () throws -> Result
) throws -> Result {
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.file(String(map), resources: resources, testFile: filePath)
    return try run(
        .init(
            source: source,
            unmatched: unmatched,
            handlers: handlers,
            sharedSession: sharedSession,
            redact: redact,
            place: place,
            function: function,
            nameInXCTest: test
        ),
        body
    )
}

/// Responds to requests with entries in code while a synchronous body runs.
///
/// For the parameters and errors, see the form with a map file.
@_disfavoredOverload
public func withSubstitutions<Result>(
    _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    sharedSession: Bool = false,
    redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    test: String? = nil,
    function: String = #function,
    _ body: () throws -> Result
) throws -> Result {
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.entries(entries, resources: resources, testFile: filePath)
    return try run(
        .init(
            source: source,
            unmatched: unmatched,
            sharedSession: sharedSession,
            redact: redact,
            place: place,
            function: function,
            nameInXCTest: test
        ),
        body
    )
}

/// Loads a map, waits until a scope may begin, then runs a body in the scope. A surrounding trait counts the scope's
/// requests, too.
private func run<Result>(
    _ options: SubstitutionScope.Options,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async throws -> Result {
    let loaded = try options.loaded()
    return try await options.inTurn {
        let scope = try options.scope(loaded)
        defer { if scope.substitutions.isUsed { SubstitutionsTrait.Use.ofTask.get()?.noteRequest() } }
        return try await scope.run(body)
    }
}

/// The same for a body that isn't async. It can't wait for a turn.
private func run<Result>(_ options: SubstitutionScope.Options, _ body: () throws -> Result) throws -> Result {
    if options.sharedSession, Test.current != nil {
        throw Complaint(
            "Without await, withSubstitutions can't wait for its turn to use URLSession.shared. Use the trait "
                + ".substituting(…, sharedSession: true)."
        )
    }
    let scope = try options.scope(try options.loaded())
    defer { if scope.substitutions.isUsed { SubstitutionsTrait.Use.ofTask.get()?.noteRequest() } }
    return try scope.run(body)
}
#endif
