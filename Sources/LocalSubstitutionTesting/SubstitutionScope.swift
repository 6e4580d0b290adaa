#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A part of a test whose requests a map answers.
struct SubstitutionScope: Sendable {
    /// The arguments of a trait or of `withSubstitutions`.
    struct Options: Sendable {
        let source: MapSource
        let unmatched: TestSubstitutions.Unmatched
        var handlers: [String: SubstitutionMap.Handler] = [:]
        /// Whether the map also answers `URLSession.shared`.
        var sharedSession = false
        var redact: (@Sendable (inout RecordedAnswer) -> Void)?
        /// Whether a trait reports entries that answered no request.
        var reportsUnused = false
        /// Where issues are shown.
        let place: SourceLocation
        /// The function that is shown as the test's name where there's no current test, such as in XCTest.
        var function = ""

        var test: TestName { TestName(function: function, scope: place) }

        /// Loads the map.
        ///
        /// - Throws: An error that says what's wrong with the map, or with the environment variable that turns on
        ///   recording.
        func map() throws -> SubstitutionMap { try source.load(handlers, isRecorded: unmatched.isRecorded) }

        func record(_ issue: String) { Issue.record(Comment(rawValue: issue), sourceLocation: place) }

        /// Issues a warning. Older toolchains don't have warnings, and an issue would fail the test.
        func warn(_ text: String) {
            #if compiler(>=6.3)
            Issue.record(Comment(rawValue: text), severity: .warning, sourceLocation: place)
            #endif
        }

        /// Runs a body when a scope may begin: for `sharedSession`, in turn; otherwise, in one of the process's places.
        func inTurn<Result>(
            isolation: isolated (any Actor)? = #isolation,
            _ body: () async throws -> Result
        ) async throws -> Result {
            // Only one such test runs at a time, so it needs no place.
            if sharedSession { return try await SharedSession.inTurn(body) }
            // A test case has one place, however many scopes are in it.
            let isOutermost = Test.current != nil && TestSubstitutions.ofTask.get() == nil
            return try await Places.with(isOutermost ? Places.ofProcess : nil, body)
        }
    }

    /// An error with the problems of a scope: those of its map or, in XCTest, those that Swift Testing would report as
    /// issues.
    struct Failure: Error, CustomStringConvertible, LocalizedError {
        let description: String

        init(_ problems: [String]) { description = problems.joined(separator: "\n") }

        var errorDescription: String? { description }
    }

    let substitutions: TestSubstitutions
    private let options: Options
    private let recording: Recording?
    /// The problems of the entries of an HTTP archive that can't answer.
    private let leftOut: [SubstitutionMap.Problem]

    /// - Throws: An error if an exception of `unmatched` is neither a URL nor a match pattern, or if `URLSession.shared` can't be
    ///   answered.
    init(_ map: SubstitutionMap, _ options: Options) throws {
        if options.sharedSession { try SharedSession.check() }
        self.options = options
        recording = try Recording(options)
        leftOut = options.source.archive == nil ? [] : map.problems
        let map = try recording?.map(options.handlers) ?? map
        substitutions = try TestSubstitutions(map, options, recording: recording)
    }

    /// Runs a body in the scope, and ends the scope. Then records the scope's problems as issues of the current test.
    /// Where there's no current test, throws them.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        warnOfWhatIsLeftOut()
        recording?.begin()
        do {
            result = .success(try await TestSubstitutions.ofTask.withValue(substitutions, operation: body))
        } catch {
            result = .failure(error)
        }
        substitutions.end()
        let problems = problems()
        if Test.current == nil, !problems.isEmpty {
            if case .failure(let error) = result { throw Failure(["\(error)"] + problems) }
            throw Failure(problems)
        }
        problems.forEach(options.record)
        return try result.get()
    }

    /// Returns the problems to report: handlers' mistakes, and each unmatched request. In a recording run, one problem
    /// lists what was recorded instead of the unmatched requests.
    private func problems() -> [String] {
        let requests = substitutions.requests
        var seen: Set<String> = []
        let mistakes = requests.compactMap { request in request.mistake.map { $0 + Self.note(on: request) } }
            .filter { seen.insert($0).inserted }
        if let recording {
            let added = recording.add(requests, options.test)
            return mistakes + [added] + recording.end().map(\.text)
        }
        if Recording.isOn, let archive = options.source.archive, options.unmatched.isRecorded {
            return mistakes + [Recording.refusal(ofArchive: archive)]
        }
        guard options.unmatched.isIssue else { return mistakes }
        // Compares explanations, since two bodies sent to one URL may be unmatched for different reasons.
        return mistakes
            + requests.filter { $0.outcome == .unmatched }
            .map { "\($0.error?.localizedDescription ?? $0.description)\n  \(advice(on: $0))\(Self.note(on: $0))" }
            .filter { seen.insert($0).inserted }
    }

    /// Returns a note for a request that another test may have made; otherwise, an empty string.
    private static func note(on request: TestSubstitutions.Request) -> String {
        request.mayBeOfAnotherTest
            ? "\n  note:         It may be another test's request: URLSession.shared doesn't say which test made it."
            : ""
    }

    /// The paths of the archives about which a warning was issued.
    private static let listed = Guarded<Set<String>>([])

    /// Issues a warning that lists an archive's entries that can't answer. Does so once for each archive, since each
    /// test would list the same entries.
    private func warnOfWhatIsLeftOut() {
        guard let archive = options.source.archive, !leftOut.isEmpty, Test.current != nil,
            Self.listed.withLock({ $0.insert(archive.path).inserted })
        else { return }
        let list = leftOut.map { "\n  \($0)" }.joined()
        let count = leftOut.count.counted("entry", "entries")
        let name = archive.lastPathComponent
        let advice = "Export “\(name)” again, with content. Or import it into a map, and add these entries there."
        options.warn("\(count) of “\(name)” can't answer:\(list)\n\(advice)")
    }

    /// Returns advice about a request that the map doesn't answer.
    private func advice(on request: TestSubstitutions.Request) -> String {
        guard !request.isHiddenUpload else {
            return "Use a data task with httpBody: on Linux, Foundation hides an upload task's body."
        }
        if let archive = options.source.archive {
            let name = archive.lastPathComponent
            let url = request.request.url.flatMap { try? NormalizedURL($0.absoluteString).canonical }
            let found = leftOut.filter { $0.key != nil && $0.key == url }.map { "“\(name)” has it, but \($0.message)." }
            return (found + ["Export “\(name)” again, with content, or import it into a map and add an entry."])
                .joined(separator: " ")
        }
        guard options.source.file != nil else {
            return "Add an entry. (Only a map that is named by its path can be recorded.)"
        }
        return request.obstacleToRecording ?? "record it:    \(Recording.command(options.test.filter))"
    }
}

extension SubstitutionScope {
    /// The running test's name and place.
    struct TestName: Sendable {
        /// The names of the suites and of the test, without parameters.
        private let components: [String]
        /// The place of the test, or of the scope where there's no current test.
        let location: SourceLocation
        /// Where the trait or the call of `withSubstitutions` is.
        let scope: SourceLocation

        /// - Parameter function: The function that is shown as the test's name where there's no current test, such as
        ///   in XCTest.
        init(function: String, scope: SourceLocation) {
            components = (Test.current?.id.nameComponents ?? [function]).map { String($0.prefix { $0 != "(" }) }
            location = Test.current?.sourceLocation ?? scope
            self.scope = scope
        }

        /// The name as it's shown, such as `Suite/test`.
        var text: String { components.joined(separator: "/") }

        /// A regular expression for the `--filter` option of `swift test`, in quotes if a shell needs them.
        var filter: String {
            let name = components.map { NSRegularExpression.escapedPattern(for: $0.filter { $0 != "`" }) }
                .joined(separator: "/")
            let isPlain = name.utf8.allSatisfy { $0.isLetter || $0.isDigit || "/_".utf8.contains($0) }
            return isPlain ? name : "'\(name.replacingOccurrences(of: "'", with: "."))'"
        }
    }
}

extension TestSubstitutions.Request {
    /// Why a recording run wouldn't record the request, and what to do instead; `nil` if it probably would.
    fileprivate var obstacleToRecording: String? {
        guard let url = request.url else { return nil }
        if let obstacle = EditedMap.obstacle(toRecording: url) { return "It can't be recorded: \(obstacle)" }
        guard let explanation, let winner = explanation.winner else { return nil }
        if explanation.verdict == .excluded { return "It can't be recorded: the entry “\(winner.key)” is null." }
        return needsOrigin ? "It can't be recorded. Add “forwardTo” to the entry “\(winner.key)”." : nil
    }
}

/// A lock that lets only one test's map at a time answer `URLSession.shared`.
private enum SharedSession {
    private static let turn = Places(1, patience: .infinity)
    private static let hasTurn = TaskLocal(wrappedValue: false)

    /// Waits until no other test's map answers `URLSession.shared`, then runs a body. If the test already holds the
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

    /// - Throws: An error if `URLSession.shared` can't be answered.
    static func check() throws(SubstitutionScope.Failure) {
        #if os(watchOS)
        throw SubstitutionScope.Failure([
            "watchOS has no custom protocols, so no map can answer URLSession.shared. Leave out sharedSession, and give the code a "
                + "session."
        ])
        #else
        guard !LocalSubstitutionCache.reachesSharedSession else { return }
        throw SubstitutionScope.Failure([
            "A session was used before this call, so no map can answer URLSession.shared. "
                + "Use the trait .substituting(…, sharedSession: true), which takes effect before any test runs. Don't "
                + "use a session before that."
        ])
        #endif
    }
}
#endif
