#if canImport(Testing)
import Foundation
import LocalSubstitution
public import Testing

/// A trait that gives a test, or each test of a suite, its own map, cache and session.
///
/// Make one with `.substituting(…)`. If several apply to a test, the innermost is used.
public struct SubstitutionsTrait: TestTrait, SuiteTrait, TestScoping {
    private let id = UUID()
    let options: ScopeOptions
    let reportsUnused: Bool

    /// Always `true`: each test of a suite has its own scope.
    public var isRecursive: Bool { true }

    /// Returns the trait itself, for the suite, for each test, and for each of a test's arguments.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> SubstitutionsTrait? { self }

    /// Runs a test with its substitutions and records its issues.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let innermost = test.traits.lazy.compactMap { $0 as? SubstitutionsTrait }.last
        guard innermost?.id == id else { return try await function() }
        if testCase == nil {
            try await runAll(of: test, function)
        } else {
            let use = TraitUse.ofTask.get() ?? TraitUse(id, options.source)
            try await Places.with(Places.ofProcess) { try await run(use, function) }
        }
    }

    /// Runs a suite, or a test with all its arguments.
    private func runAll(of test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let inherited = TraitUse.ofTask.get().flatMap { $0.trait == id ? $0 : nil }
        let use = inherited ?? TraitUse(id, options.source)
        // Checked once, not for each argument. A suite leaves the check to its tests, since it may not have any.
        guard test.isSuite || isRight(use) else { return }
        guard inherited == nil else { return try await function() }
        let recording = try? Recording(options)
        recording?.begin()
        defer {
            for conflict in recording?.end() ?? [] {
                Issue.record(Comment(rawValue: conflict.text), sourceLocation: conflict.place)
            }
        }
        let result = await TraitUse.ofTask.withValue(use) { await Result.catching(function) }
        if reportsUnused, !Recording.isOn { reportUnused(use.unused) }
        // A test that fails early may not have reached its requests.
        if !test.isSuite, use.hasNoRequests, case .success = result {
            warn(
                "The test has substitutions, but made no request with URLSession.substituted or "
                    + "TestSubstitutions.current. Give the code one of these sessions instead of URLSession.shared."
            )
        }
        try result.get()
    }

    /// Returns whether the map can be loaded. If it can't, records an issue.
    private func isRight(_ use: TraitUse) -> Bool {
        do {
            _ = try use.map()
            return true
        } catch {
            record(TestName(function: "").explanation(of: error, options.source))
            return false
        }
    }

    /// Runs a test with one of its arguments.
    private func run(_ use: TraitUse, _ function: @Sendable () async throws -> Void) async throws {
        let scope: SubstitutionScope
        do {
            scope = try SubstitutionScope(try use.map(), options)
        } catch {
            return record("\(error)")
        }
        let (result, problems) = await scope.run(TestName(function: ""), function)
        use.add(scope.substitutions)
        for problem in problems { record(problem) }
        try result.get()
    }

    private func reportUnused(_ entries: [SubstitutionMap.EntryReference]) {
        guard !entries.isEmpty else { return }
        let list = entries.map { "\n  \($0)" }.joined()
        record(
            "\(entries.count == 1 ? "1 entry has" : "\(entries.count.grouped) entries have") answered no requests:\(list)"
        )
    }

    private func record(_ problem: String) {
        Issue.record(Comment(rawValue: problem), sourceLocation: options.place)
    }

    private func warn(_ warning: String) {
        // Older toolchains don't have warnings, and an issue would fail the test.
        #if compiler(>=6.3)
        Issue.record(Comment(rawValue: warning), severity: .warning, sourceLocation: options.place)
        #endif
    }
}

extension Result where Success == Void, Failure == any Error {
    fileprivate static func catching(_ body: @Sendable () async throws -> Void) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
#endif
