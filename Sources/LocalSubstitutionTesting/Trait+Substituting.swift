#if canImport(Testing)
public import Foundation
public import Testing

extension Trait where Self == SubstitutionsTrait {
    /// Answers a test's requests by a map file.
    ///
    /// The test's code gets its session from `URLSession.substituted`, or makes one with the configuration of
    /// ``TestSubstitutions/current``. Each test, and each argument, has its own cache and session, so tests run in parallel.
    ///
    /// - Parameters:
    ///   - map: The map file's path. A relative one starts at the folder of the test's file.
    ///   - unmatched: What happens to requests that no entry answers. By default they fail, and are issues of the test.
    ///   - resources: The folder with the entries' files; a relative path starts at the folder of the test's file. By default, the
    ///     folder `Resources` beside the map; if there is none, the map's own folder.
    ///   - reportsUnused: Whether an entry that no argument of the test has used is an issue. For a suite's trait: one that none of
    ///     its tests has used, so run the whole suite.
    ///   - redact: Changes what a recording run keeps, such as tokens in a response.
    public static func substituting(
        _ map: String,
        unmatched: TestSubstitutions.Unmatched = .issue,
        resources: String? = nil,
        reportsUnused: Bool = false,
        redacting redact: (@Sendable (inout RecordedAnswer) -> Void)? = nil,
        filePath: String = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource(path: map, resources: resources, testFile: filePath)
        let options = ScopeOptions(source: source, unmatched: unmatched, redact: redact, place: sourceLocation)
        return Self(options: options, reportsUnused: reportsUnused)
    }

    /// Answers a test's requests by a map in a bundle, as ``substituting(_:unmatched:resources:reportsUnused:redacting:filePath:sourceLocation:)``
    /// does by a file. A recording run can't add to it.
    ///
    /// - Parameters:
    ///   - name: The map's name, without its extension `json`.
    ///   - bundle: The bundle, such as `.module`.
    ///   - unmatched: What happens to requests that no entry answers. By default they fail, and are issues of the test.
    ///   - reportsUnused: Whether an entry that no argument of the test has used is an issue.
    public static func substituting(
        named name: String,
        in bundle: Bundle,
        unmatched: TestSubstitutions.Unmatched = .issue,
        reportsUnused: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource(named: name, in: bundle)
        let options = ScopeOptions(source: source, unmatched: unmatched, redact: nil, place: sourceLocation)
        return Self(options: options, reportsUnused: reportsUnused)
    }
}
#endif
