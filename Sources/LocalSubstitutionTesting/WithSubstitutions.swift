#if canImport(Testing)
import LocalSubstitution
import Testing

/// Answers requests by a map file while a body runs: in a part of a test, or in a test of XCTest.
///
/// In the body, ``TestSubstitutions/current`` is the scope's. It replaces that of a trait.
///
/// - Parameters:
///   - map: The map file's path. A relative one starts at the folder of the test's file.
///   - unmatched: What happens to requests that no entry answers. By default they fail, and are issues of the test.
///   - resources: The folder with the entries' files; a relative path starts at the folder of the test's file. By default, the
///     folder `Resources` beside the map; if there is none, the map's own folder.
///   - redact: Changes what a recording run keeps, such as tokens in a response.
///   - isolation: The actor that runs the body: the caller's.
///   - fileID: The caller's file, where issues are shown.
///   - filePath: The caller's file, whose folder relative paths start at.
///   - line: The caller's line.
///   - column: The caller's column.
///   - function: The caller's name. In XCTest, the command that records has it.
///   - body: What runs in the scope.
/// - Throws: The body's error, or an error that lists every problem with the map. In XCTest, which has no issues of this kind, also
///   an error that describes them when the body has ended.
public func withSubstitutions<Result>(
    _ map: String,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    redacting redact: (@Sendable (inout RecordedAnswer) -> Void)? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    let source = MapSource(path: map, resources: resources, testFile: filePath)
    // Not a `SourceLocation`, whose default is a macro of Testing, which tests of XCTest don't import.
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let options = ScopeOptions(source: source, unmatched: unmatched, redact: redact, place: place)
    return try await withSubstitutions(options, TestName(function: function), body)
}

func withSubstitutions<Result>(
    _ options: ScopeOptions,
    _ test: TestName,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
) async throws -> Result {
    let map: SubstitutionMap
    do {
        map = try options.source.load()
    } catch {
        throw ScopeError(problems: [test.explanation(of: error, options.source)])
    }
    let scope = try SubstitutionScope(map, options)
    let (result, problems) = await scope.run(test, body)
    TraitUse.ofTask.get()?.addRequests(scope.substitutions.requests.count)
    if Test.current == nil, !problems.isEmpty { throw ScopeError(problems: problems, result) }
    for problem in problems { Issue.record(Comment(rawValue: problem), sourceLocation: options.place) }
    return try result.get()
}
#endif
