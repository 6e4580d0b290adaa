#if canImport(Testing)
public import Foundation
public import Testing

extension Trait where Self == SubstitutionsTrait {
    /// Answers a test's requests with a map file.
    ///
    /// Your code gets the session from `URLSession.substituted`, or makes its own with the configuration of
    /// ``TestSubstitutions/current``. Each test, and each argument of a parameterized test, has its own cache and session, so tests
    /// can run in parallel.
    ///
    /// - Parameters:
    ///   - map: The path of the map file. A relative path starts at the folder of the test's file.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - resources: The folder with the entries' files. A relative path starts at the folder of the test's file. By default, the
    ///     folder `Resources` beside the map; if there is none, the map's own folder.
    ///   - reportsUnused: Whether an entry that the test doesn't use with any of its arguments is an issue. In a suite's trait, an
    ///     entry that none of the suite's tests uses, so run the whole suite.
    ///   - redact: Changes what a recording run keeps, for example to remove tokens from a response.
    ///   - filePath: The file whose folder relative paths start at. By default, the caller's.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
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

    /// Answers a test's requests with a map in a bundle. Otherwise, it's like
    /// ``substituting(_:unmatched:resources:reportsUnused:redacting:filePath:sourceLocation:)``. A recording run can't add to the
    /// map.
    ///
    /// - Parameters:
    ///   - name: The map's name, without its extension `json`.
    ///   - bundle: The bundle, such as `.module`.
    ///   - unmatched: What happens to requests that no entry answers. By default, they fail and are issues of the test.
    ///   - reportsUnused: Whether an entry that the test doesn't use with any of its arguments is an issue.
    ///   - sourceLocation: Where issues are shown. By default, the caller's location.
    public static func substituting(
        named name: String,
        in bundle: Bundle,
        unmatched: TestSubstitutions.Unmatched = .issue,
        reportsUnused: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        let source = MapSource(named: name, in: bundle, module: sourceLocation.moduleName)
        let options = ScopeOptions(source: source, unmatched: unmatched, redact: nil, place: sourceLocation)
        return Self(options: options, reportsUnused: reportsUnused)
    }
}
#endif
