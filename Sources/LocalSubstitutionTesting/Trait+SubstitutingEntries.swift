#if canImport(Testing)
public import LocalSubstitution
public import Testing

extension Trait where Self == SubstitutionsTrait {
    /// Answers a test's requests with entries in code. Otherwise, it's like
    /// ``substituting(_:unmatched:resources:reportsUnused:redacting:filePath:sourceLocation:)``. A recording run can't add to the
    /// entries.
    ///
    /// - Parameters:
    ///   - entries: Keys and answers, as in a map file.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file.
    ///   - reportsUnused: Whether an entry that the test doesn't use with any of its arguments is an issue.
    ///   - filePath: The file whose folder relative paths start at. By default, the caller's.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
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

/// Answers requests with entries in code while a body runs. Otherwise, it's like
/// ``withSubstitutions(_:unmatched:resources:redacting:isolation:fileID:filePath:line:column:function:_:)``.
///
/// - Throws: The body's error, or an error that lists every problem with the entries. In XCTest, what would be issues in Swift
///   Testing is thrown as an error after the body has ended.
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
    /// Creates a source for entries in code.
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
