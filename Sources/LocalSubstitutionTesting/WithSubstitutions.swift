#if canImport(Testing)
public import LocalSubstitution
import Testing

/// Answers requests with a map file while a body runs: in part of a test, or in an XCTest method.
///
/// Inside the body, ``TestSubstitutions/current`` belongs to this call and replaces that of a trait.
///
/// - Parameters:
///   - map: The path of the map file, or of an HTTP archive (`.har`). A relative path starts at the folder of the test's file.
///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By default, the
///     folder `Resources` beside the map; if there is none, the map's own folder.
///   - handlers: The closures that entries name in their field `handler`.
///   - sharedSession: Whether the map also answers `URLSession.shared`, as with the trait. `URLSession.shared` must not
///     have been used before; on Linux, no session may have been used. The trait has no such restriction.
///   - redact: Changes what a recording run keeps, for example to remove tokens from a response.
///   - isolation: The actor that runs the body. By default, the caller's.
///   - fileID: The file where issues are shown. By default, the caller's.
///   - filePath: The test's file. Relative paths start at its folder. By default, the caller's file.
///   - line: The line where issues are shown. By default, the caller's.
///   - column: The column where issues are shown. By default, the caller's.
///   - function: The test's name in XCTest, for the command that records. By default, the caller's.
///   - body: The code to run.
/// - Throws: The body's error, or an error that lists every problem with the map. In XCTest, also throws an error after
///   the body has ended, with what Swift Testing would report as issues.
public func withSubstitutions<Result>(
    _ map: String,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    handlers: [String: SubstitutionMap.Handler] = [:],
    sharedSession: Bool = false,
    redacting redact: (@Sendable (inout RecordedAnswer) -> Void)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    // Not a `SourceLocation` parameter: its default value is a macro of Testing, which XCTest tests don't import.
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.file(map, resources: resources, testFile: filePath)
    return try await run(
        .init(
            source: source,
            unmatched: unmatched,
            handlers: handlers,
            sharedSession: sharedSession,
            redact: redact,
            place: place,
            function: function
        ),
        body
    )
}

/// Answers requests with entries in code while a body runs. Otherwise, it's like
/// ``withSubstitutions(_:unmatched:resources:handlers:sharedSession:redacting:isolation:fileID:filePath:line:column:function:_:)``.
///
/// - Throws: The body's error, or an error that lists every problem with the entries. In XCTest, also throws an error
///   after the body has ended, with what Swift Testing would report as issues.
public func withSubstitutions<Result>(
    _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    sharedSession: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let source = MapSource.entries(entries, resources: resources, testFile: filePath)
    return try await run(
        .init(source: source, unmatched: unmatched, sharedSession: sharedSession, place: place, function: function),
        body
    )
}

/// Runs a body with a map that's loaded for it alone.
private func run<Result>(
    _ options: SubstitutionScope.Options,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async throws -> Result {
    let map: SubstitutionMap
    do {
        map = try options.map()
    } catch {
        throw SubstitutionScope.Failure([options.source.explanation(of: error, in: options.test)])
    }
    return try await options.inTurn {
        let scope = try SubstitutionScope(map, options)
        defer { SubstitutionsTrait.Use.ofTask.get()?.addRequests(scope.substitutions.requests.count) }
        return try await scope.run(body)
    }
}
#endif
