#if canImport(Testing)
public import LocalSubstitution
public import Testing

extension Trait where Self == SubstitutionsTrait {
    /// Answers a test's requests by entries in code, as ``substituting(_:unmatched:resources:reportsUnused:redacting:filePath:sourceLocation:)``
    /// does by a map file. A recording run can't add to them.
    ///
    /// - Parameters:
    ///   - entries: Keys and answers, as in a map.
    ///   - unmatched: What happens to requests that no entry answers. By default they fail, and are issues of the test.
    ///   - resources: The folder with the entries' files; a relative path starts at the folder of the test's file.
    ///   - reportsUnused: Whether an entry that no argument of the test has used is an issue.
    public static func substituting(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        reportsUnused: Bool = false,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource(entries, resources: resources, testFile: filePath)
        let options = ScopeOptions(source: source, unmatched: unmatched, redact: nil, place: sourceLocation)
        return Self(options: options, reportsUnused: reportsUnused)
    }
}

/// Answers requests by entries in code while a body runs, as
/// ``withSubstitutions(_:unmatched:resources:redacting:isolation:fileID:filePath:line:column:function:_:)`` does by a map file.
///
/// - Throws: The body's error, or an error that lists every problem with the entries. In XCTest, which has no issues of this kind,
///   also an error that describes them when the body has ended.
public func withSubstitutions<Result>(
    _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
    unmatched: TestSubstitutions.Unmatched = .issue,
    resources: String? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    function: String = #function,
    _ body: () async throws -> Result
) async throws -> Result {
    let source = MapSource(entries, resources: resources, testFile: filePath)
    let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let options = ScopeOptions(source: source, unmatched: unmatched, redact: nil, place: place)
    return try await withSubstitutions(options, TestName(function: function), body)
}

extension MapSource {
    /// Entries in code.
    fileprivate init(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        resources: String?,
        testFile: String
    ) {
        let folder = resources.map { Self.url($0, beside: testFile) }
        self.init(file: nil, resources: folder) { try SubstitutionMap(entries, resources: folder) }
    }
}
#endif
