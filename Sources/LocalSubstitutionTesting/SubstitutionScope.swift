#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import MapWriting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The test, or the part of a test, that uses a map. A trait or `withSubstitutions` creates a scope.
struct SubstitutionScope: Sendable {
    /// The arguments that a test passes to a trait or to `withSubstitutions`.
    struct Options: Sendable {
        let source: MapSource
        let unmatched: TestSubstitutions.Unmatched
        var handlers: [String: SubstitutionMap.Handler] = [:]
        /// Whether `URLSession.shared` also uses the map; `false` by default.
        var sharedSession = false
        /// Changes or excludes a response before it's recorded; `nil` to record responses unchanged.
        var redact: RecordedResponse.Redaction?
        /// Whether a trait reports entries that matched no request; `false` by default. `withSubstitutions` doesn't
        /// report them.
        var reportsUnused = false
        /// The place in the source code where issues are shown.
        var place: SourceLocation
        /// The calling function. It's the test's name where Swift Testing has no current test, such as in XCTest. Empty
        /// for a trait, by default.
        var function = ""
        /// The name of an XCTest test; `nil` to use ``function``.
        var nameInXCTest: String?

        var isOfTrait: Bool { function.isEmpty }

        var test: TestName { TestName(self) }

        /// - Parameter recording: The test's recording; `nil` if the test isn't recorded.
        /// - Throws: An error if the map is missing or invalid, or if the environment variable that turns on recording
        ///   has an invalid value.
        func map(_ recording: Recording?) throws -> SubstitutionMap {
            source.isDispensable(recording) ? .empty : try source.load(handlers)
        }

        /// Loads the map and the recording for a call of `withSubstitutions` or `TestSubstitutions.begin`.
        func loaded() throws -> (map: SubstitutionMap, recording: Recording.Argument?) {
            do {
                let recording = try Recording.argument(for: self)
                return (try map(recording?.recording), recording)
            } catch {
                throw complaint(source.explanation(of: error, in: test))
            }
        }

        /// Creates the scope of a call of `withSubstitutions` or `TestSubstitutions.begin`.
        func scope(_ loaded: (map: SubstitutionMap, recording: Recording.Argument?)) throws -> SubstitutionScope {
            do {
                return try SubstitutionScope(loaded.map, self, loaded.recording)
            } catch {
                throw complaint("\(error)")
            }
        }

        /// Returns the error of a call. In XCTest, it begins with the place of the call, which XCTest on Linux doesn't show.
        func complaint(_ text: String) -> Complaint { Complaint(Test.current == nil ? "\(location): \(text)" : text) }

        /// The place, such as `ShopTests.swift:12`.
        var location: String { "\(place.fileName):\(place.line)" }

        func record(_ issue: String) { Issue.record(Comment(rawValue: issue), sourceLocation: place) }

        /// Does nothing with toolchains before 6.3: they have no warnings, and an issue would fail the test.
        func warn(_ text: String) {
            #if compiler(>=6.3)
            Issue.record(Comment(rawValue: text), severity: .warning, sourceLocation: place)
            #endif
        }

        /// Waits until a scope may begin, then runs a body. With `sharedSession`, waits until `URLSession.shared` uses
        /// no other test's map. Without it, waits for one of the process's places.
        ///
        /// - Throws: The body's error, or `CancellationError` if the task is cancelled while it waits for
        ///   `URLSession.shared`.
        func inTurn<Result>(
            isolation: isolated (any Actor)? = #isolation,
            _ body: () async throws -> Result
        ) async throws -> Result {
            // Only one test with `sharedSession` runs at a time, so it uses few descriptors without a place.
            if sharedSession { return try await SharedSession.inTurn(body) }
            // A test case takes one place for all its scopes. If an inner scope waited for a second place, tests could
            // block each other.
            let isOutermost = Test.current != nil && TestSubstitutions.ofTask.get() == nil
            return try await Places.with(isOutermost ? Places.ofProcess : nil, body)
        }
    }

    let substitutions: TestSubstitutions
    private let options: Options
    /// The part of the test's recording to which the scope belongs; `nil` if the test isn't recorded.
    private let recording: Recording.Argument?
    /// The problems of the archive's unusable entries; empty if the map isn't an HTTP archive.
    private let leftOut: [SubstitutionMap.Problem]

    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern, or if
    ///   `URLSession.shared` should use the map but can't.
    init(_ map: SubstitutionMap, _ options: Options, _ recording: Recording.Argument?) throws {
        if options.sharedSession { try SharedSession.check() }
        (self.options, self.recording) = (options, recording)
        leftOut = options.source.archive == nil ? [] : map.problems
        substitutions = try TestSubstitutions(map, options, recording: recording)
    }

    /// Runs a body, then ends the scope and reports its problems as issues of the current test.
    ///
    /// - Throws: The body's error. Where Swift Testing has no current test, such as in XCTest, throws a `Complaint`
    ///   with the problems and the body's error.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let result: Swift.Result<Result, any Error>
        warnOfWhatIsLeftOut()
        do {
            result = .success(
                try await TestSubstitutions.ofTask.withValue(substitutions) {
                    begin()
                    return try await body()
                }
            )
        } catch {
            result = .failure(error)
        }
        substitutions.end()
        return try end(result, stillRunning: await substitutions.handlerCalls.end())
    }

    /// The same as the async `run`, for a body that isn't async.
    func run<Result>(_ body: () throws -> Result) throws -> Result {
        warnOfWhatIsLeftOut()
        let result = Swift.Result {
            try TestSubstitutions.ofTask.withValue(substitutions) {
                begin()
                return try body()
            }
        }
        return try end(result)
    }

    /// Begins the scope, without a body.
    func begin() { substitutions.handlerCalls.begin() }

    /// Ends a scope whose body isn't async, or that has none.
    func end<Result>(_ result: Swift.Result<Result, any Error>) throws -> Result {
        substitutions.end()
        return try end(result, stillRunning: substitutions.handlerCalls.endBlocking())
    }

    /// Reports the problems of a scope that has ended.
    ///
    /// - Parameters:
    ///   - result: The body's result.
    ///   - handlers: The keys of the entries whose handlers are still running.
    private func end<Result>(
        _ result: Swift.Result<Result, any Error>,
        stillRunning handlers: [String]
    ) throws -> Result {
        let late = handlers.map {
            "The handler of the entry “\($0)” was still running a second after the test ended, though its task "
                + "was cancelled. Make it return when Task.isCancelled is true."
        }
        let covers = options.function.isEmpty ? "this trait" : "this call"
        let forgotten = substitutions.log.forgotten.map {
            "\($0) was made with URLSession.shared, which \(covers) doesn't cover. Add sharedSession: true."
        }
        let unscoped = substitutions.log.unscoped.map {
            "\($0) failed, because its session was made before TestSubstitutions.begin, for example in a stored property or "
                + "in setUp() async throws. Write “lazy var”, or make the session after begin."
        }
        if RecordingMode.isOn {
            let hasThrown = if case .failure = result { true } else { Task.isCancelled }
            addToRecording(hasThrown: hasThrown)
        }
        let written = recording?.recording.isWrittenByScope == true ? recording?.recording.write() : nil
        let problems = problems() + late + forgotten + unscoped + [written].compactMap { $0 }
        if Test.current == nil, !problems.isEmpty {
            let error = if case .failure(let error) = result { ["\(error)"] } else { [String]() }
            throw options.complaint((error + problems).joined(separator: "\n"))
        }
        problems.forEach(options.record)
        return try result.get()
    }

    /// Adds to the test's recording the scope's requests to which nothing responded.
    private func addToRecording(hasThrown: Bool) {
        guard let recording, let rules = try? SessionRules(options.unmatched.ofCache) else { return }
        let requests = substitutions.requests
        let items = (requests + substitutions.log.ofHandlers).compactMap { request in
            RecordedItem(
                request,
                isToBeLoaded: { [cache = substitutions.cache] in
                    cache.explain($0).needsServer && !rules.allows($0)
                },
                redact: options.redact
            )
        }
        recording.add(items, hasRequests: !requests.isEmpty, hasThrown: hasThrown)
    }

    /// Returns the problems to report: the mistakes of handlers, and the unmatched requests if the test's setting is
    /// ``TestSubstitutions/Unmatched/issue(allowing:)``.
    private func problems() -> [String] {
        let requests = substitutions.requests + substitutions.log.ofHandlers
        var seen: Set<String> = []
        let mistakes = requests.compactMap { request in request.mistake.map { $0 + Self.note(on: request) } }
            .filter { seen.insert($0).inserted }
        guard options.unmatched.isIssue else { return mistakes }
        // Only requests with the same explanation are one problem: two requests for a URL may be unmatched for
        // different reasons, such as their bodies.
        return mistakes
            + requests.filter { $0.outcome == .unmatched }
            .map { request in
                let body = request.explanation?.isAboutBody == true ? request.body.map(ShownBody.line) : nil
                let advice = "  \(advice(on: request))\(Self.note(on: request))"
                return [request.error?.localizedDescription ?? request.description, body, advice].compactMap { $0 }
                    .joined(separator: "\n")
            }
            .filter { seen.insert($0).inserted }
    }

    /// Returns a note that another test may have made a request; empty if this test made the request.
    private static func note(on request: TestSubstitutions.Request) -> String {
        request.mayBeOfAnotherTest
            ? "\n  note:         It may be another test's request: URLSession.shared doesn't say which test made it."
            : ""
    }

    /// The paths of the archives whose unusable entries a warning has listed.
    private static let listed = Guarded<Set<String>>([])

    /// Issues a warning that lists the archive's unusable entries. Only the first test with an archive issues the
    /// warning, since all tests would list the same entries. Does nothing in XCTest.
    private func warnOfWhatIsLeftOut() {
        guard let archive = options.source.archive, !leftOut.isEmpty, Test.current != nil,
            Self.listed.withLock({ $0.insert(archive.path).inserted })
        else { return }
        let list = leftOut.map { "\n  \($0)" }.joined()
        let count = leftOut.count.counted("entry", "entries")
        let name = archive.lastPathComponent
        let advice =
            "Export “\(name)” again, with content. Or import it into a map, and write the missing entries there by hand."
        options.warn("\(count) of “\(name)” can't be used:\(list)\n\(advice)")
    }

    /// How to make an entry match the request.
    private func advice(on request: TestSubstitutions.Request) -> String {
        if request.isHiddenUpload {
            let fix = "Use a data task with httpBody" + (request.entry == nil ? ", or add an entry by hand." : ".")
            return "It can't be recorded, because on Linux, Foundation hides an upload task's body. \(fix)"
        }
        if let archive = options.source.archive {
            let name = archive.lastPathComponent
            let url = request.request.url.flatMap { try? NormalizedURL($0.absoluteString).canonical }
            let found = leftOut.filter { $0.key != nil && $0.key == url }.map {
                "“\(name)” has the URL, but its response can't be used (\($0.message))."
            }
            if !found.isEmpty {
                return (found + ["Export “\(name)” again, with content, or record the test.\n  \(record(request))"])
                    .joined(separator: " ")
            }
        }
        return record(request)
    }

    /// How to record the request, or why it can't be recorded.
    private func record(_ request: TestSubstitutions.Request) -> String {
        request.obstacleToRecording ?? "record it:    \(RecordingMode.command(options.test.filter))"
    }
}

extension SubstitutionScope {
    /// The name and the place of the test that a scope belongs to.
    struct TestName: Sendable, CustomStringConvertible {
        /// The names of the suites and of the test, from the outermost suite to the test, such as `test(id:)`.
        let components: [String]
        /// The test's module; `nil` without a current test, such as in XCTest.
        private let module: String?
        let sourceFile: String
        /// Tells tests apart, except for calling functions of the same name in one file.
        let identity: String
        /// Whether this is certainly the test's name. A calling function may have the name of another test, for example
        /// in a detached task.
        let isCertain: Bool
        /// The line of the test, or of the call of `withSubstitutions` without a current test.
        private let line: Int

        /// Creates the name of the current test. Where Swift Testing has no current test, such as in XCTest, creates the name
        /// of the calling function.
        init(_ options: Options) {
            if let test = Test.current {
                (components, module) = (test.id.nameComponents, test.id.moduleName)
                (sourceFile, line) = (test.sourceLocation.fileName, test.sourceLocation.line)
                (identity, isCertain) = ("\(test.id)", true)
            } else {
                components = options.nameInXCTest.map(RecordingPlace.components) ?? [options.function]
                (module, line) = (nil, options.place.line)
                sourceFile = URL(fileURLWithPath: options.source.testFile).lastPathComponent
                identity = ([options.source.testFile] + components).joined(separator: "/")
                isCertain = options.nameInXCTest != nil
            }
        }

        /// The names of the suites and of the test, such as `Suite/test`. Parameters are left out.
        var text: String { components.map { String($0.prefix { $0 != "(" }) }.joined(separator: "/") }

        /// The names, and then the place.
        var description: String { "“\(components.joined(separator: "/"))” (\(sourceFile):\(line))" }

        /// The value of the option `--filter` of `swift test`, in quotes for a shell: a regular expression that matches
        /// only this test or, without a current test, all tests with its name. SwiftPM searches for it in
        /// `Module.Suite/test(id:)/File.swift:1:2` or, for XCTest, in `Module.Class/test`.
        var filter: String {
            let names = components.map { NSRegularExpression.escapedPattern(for: $0) }.joined(separator: "/")
            let pattern = module.map { "^\($0)\\.\(names)" } ?? "[./]\(text)(\\(|$)"
            return "'\(pattern.replacingOccurrences(of: "'", with: "."))'"
        }
    }
}

extension TestSubstitutions.Request {
    /// A message about why a recording run wouldn't record the request, and what to do instead; `nil` if nothing seems
    /// to prevent the recording.
    fileprivate var obstacleToRecording: String? {
        guard let url = request.url else { return nil }
        if let obstacle = RecordedMap.obstacle(toRecording: url) { return "It can't be recorded: \(obstacle)" }
        guard let winner = explanation?.winner, let exclusion = explanation?.exclusion else { return nil }
        return "It can't be recorded: the entry “\(winner.key)” \(exclusion). Remove the entry first."
    }
}
#endif
