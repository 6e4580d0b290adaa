#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools
import Testing

/// What this process's tests have recorded into one map.
///
/// Whenever a test ends, the run builds the map again: it takes the map's text before the run, and adds all tests'
/// responses in the order of the tests in the source code. So the map doesn't depend on which test ends first.
struct RecordingRun: Sendable {
    /// The map's file, which may not exist yet.
    let file: URL
    /// The folder with the entries' files. If it's `nil`, the folder `Resources` beside the map; if that doesn't exist,
    /// the map's own folder.
    let resources: URL?
    /// The number of tests and suites that use the map and haven't ended.
    var underWay = 0
    /// The map before the run; `nil` until a test needs it.
    private var base: RecordingChoice?
    /// The status of the map's file when the run last read or wrote it; `nil` if the file didn't exist.
    private var status: FileStatus?
    /// What the run added to the map in its last save; `nil` before the first save. The next save replaces it.
    private var draft: EditedMap.Draft?
    /// The tests that have been added, in the order of the source code.
    private var tests: [Test] = []
    /// The conflicts among the responses of all tests so far.
    private var conflicts: [Conflict] = []
    /// The lines of ``Conflict/tests`` that earlier issues have shown, by the request of the conflict.
    private var reported: [String: Set<String>] = [:]

    /// The exchanges that a test recorded. A parameterized test has a value for each argument.
    struct Test: Sendable {
        let name: SubstitutionScope.TestName
        /// The exchanges to record, each with the test's request. The request's own response is removed to save memory.
        var recorded: [(request: TestSubstitutions.Request, exchange: RecordedExchange)] = []

        var exchanges: [RecordedExchange] { recorded.map(\.exchange) }

        mutating func add(_ exchange: RecordedExchange, to request: TestSubstitutions.Request) {
            var request = request
            request.response = nil
            recorded.append((request, exchange))
        }

        /// Returns whether a test comes before another in the source code. Compares the places of the tests, then the
        /// places of their scopes. For two arguments of one test, compares the exchanges.
        static func < (one: Self, other: Self) -> Bool {
            for (first, second) in [(one.name.location, other.name.location), (one.name.scope, other.name.scope)] {
                let (first, second) = (
                    (first.fileID, first.line, first.column), (second.fileID, second.line, second.column)
                )
                if first != second { return first < second }
            }
            return one.exchanges.lexicographicallyPrecedes(other.exchanges) { $0.precedes($1) }
        }
    }

    /// A request to which tests got different responses.
    private struct Conflict {
        let request: String
        /// Why a map can't tell the requests apart, as a clause that begins with a comma; empty if the requests look
        /// the same.
        let reason: String
        /// A line for each test, with its name, its place, and the statuses of its responses. Begins with a newline.
        let tests: [String]
        /// The place of the first test whose response is kept.
        let place: SourceLocation
    }

    init(file: URL, resources: URL?) {
        (self.file, self.resources) = (file, resources)
    }

    /// The folder with the entries' files. Each access looks at the file system, since the folder may appear during the
    /// run.
    var folder: URL {
        URL(fileURLWithPath: ResourcesFolder(beside: file, or: resources).path, isDirectory: true)
    }

    /// Returns the ``RecordingChoice`` for the map as it was before the run.
    ///
    /// If another program has changed the file during the run, the changed file counts as the map before the run from
    /// then on. Recorded responses that the changed map makes unnecessary are discarded.
    ///
    /// - Throws: An error if the file can't be read, or isn't a valid map.
    mutating func current() throws -> RecordingChoice {
        let now = FileStatus(path: file.path)
        if let base, now == status { return base }
        let mapFile = now == nil ? nil : try MapFile(file)
        let new = RecordingChoice(mapFile, try mapFile.map { try load($0, .any) } ?? .empty)
        (base, status, draft) = (new, now, nil)
        for index in tests.indices {
            tests[index].recorded.removeAll { request, exchange in
                if let replaced = exchange.replaced { return new.recorded?.contains(replaced) != true }
                return new.missing(for: request) == nil
            }
        }
        return new
    }

    /// Returns the map before the run, with a test's own handlers. Returns an empty map if the file didn't exist.
    ///
    /// - Parameter leavesRecorded: Whether the requests of recorded entries reach the network in the mode
    ///   ``Recording/Mode/all``. It has no effect in the other mode.
    mutating func map(
        _ handlers: [String: SubstitutionMap.Handler],
        leavesRecorded: Bool
    ) throws -> SubstitutionMap {
        let base = try current()
        guard let file = base.file else { return .empty }
        guard leavesRecorded, let recorded = base.recorded else { return try load(file, .init(handlers)) }
        let leave: SubstitutionMap.Handler = { _ in .notSubstituted }
        let all = handlers.merging([RecordingAgain.handlerName: leave]) { $1 }
        return try load(file.with(recorded.json), .init(all))
    }

    /// Loads a map. Throws an error if any of its entries is invalid.
    private func load(_ file: MapFile, _ handlers: SubstitutionMap.HandlerTable) throws -> SubstitutionMap {
        try SubstitutionMap(file, resources: resources, invalidEntries: .reject, handlers: handlers)
    }

    /// Adds a test's responses, and saves the map. Returns the outcome for each response, in order.
    ///
    /// `problem` is an error that occurred after the map was saved; `nil` if none occurred.
    ///
    /// - Throws: An error if the map can't be read or saved.
    mutating func add(
        _ test: Test
    ) throws -> (outcomes: [Result<EditedMap.AddedExchange, MapToolError>], problem: (any Error)?) {
        let place = tests.firstIndex { test < $0 } ?? tests.endIndex
        tests.insert(test, at: place)
        var edited = try EditedMap(file, resources: folder, replacing: draft)
        let (outcomes, conflicts) = edited.add(tests: tests.map(\.exchanges))
        var problem: (any Error)?
        do {
            try edited.save(createsEmptyMap: false)
        } catch {
            guard edited.isSaved else { throw error }
            problem = error
        }
        let added = edited.added
        // The status comes from the save, not from the file now. So `current()` notices any change by another program
        // after the save.
        (draft, status) = (added, added.status)
        self.conflicts = conflicts.compactMap { conflict($0) }
        return (outcomes[place], problem)
    }

    /// Returns a conflict with the names and places of its tests. Returns `nil` if the map keeps no test's response.
    private func conflict(_ conflict: EditedMap.Conflict) -> Conflict? {
        guard let kept = conflict.tests.first(where: \.isKept) else { return nil }
        let condition = conflict.when.map { " when \($0.count > 200 ? $0.prefix(200) + "…" : $0)" } ?? ""
        return Conflict(
            request: "\(conflict.method) \(conflict.url)\(condition)",
            reason: conflict.isRedacted ? ", since they differ only in what may be credentials" : "",
            tests: conflict.tests.map { test in
                let name = tests[test.number].name
                let statuses = test.statuses.map(String.init).joined(separator: ", ")
                let place = "\(name.location.fileName):\(name.location.line)"
                return "\n  \(name.text), \(place): \(statuses)\(test.isKept ? " (kept)" : "")"
            },
            place: tests[kept.number].name.location
        )
    }

    /// Returns an issue for each conflict that no earlier issue reported, and marks it as reported. If a reported
    /// conflict has further tests now, returns an issue that lists only the further tests.
    mutating func unreportedConflicts() -> [(text: String, place: SourceLocation)] {
        conflicts.compactMap { conflict in
            let known = reported[conflict.request, default: []]
            let tests = conflict.tests.filter { !known.contains($0) }
            reported[conflict.request] = known.union(tests)
            guard !tests.isEmpty else { return nil }
            let text =
                known.isEmpty
                ? "\(conflict.request) got different responses in these tests, and a map can't tell the requests apart"
                    + "\(conflict.reason). \(file.lastPathComponent) keeps the responses of the tests marked “kept”. "
                    + "Give the other tests their own map."
                : "\(conflict.request) got different responses in \(tests.count == 1 ? "another test" : "other tests"), too. "
                    + "An earlier issue lists the first tests. Give all tests but one their own map."
            return (text + tests.joined(), conflict.place)
        }
    }
}
#endif
