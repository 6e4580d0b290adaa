#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools
import Testing

/// What the tests of this process have recorded into one map.
///
/// Whenever a test ends, the map is rebuilt: from its text before the run, and from the responses of all tests in the
/// order of their source code. So it doesn't matter which test ends first.
struct RecordingRun: Sendable {
    let file: URL
    let resources: URL?
    /// The number of tests and suites that haven't ended.
    var underWay = 0
    /// `nil` if the map hasn't been loaded.
    private var base: MapBeforeRun?
    /// The status of the map's file when it was last read or written.
    private var status: FileStatus?
    private var draft: EditedMap.Draft?
    private var tests: [Test] = []
    private var conflicts: [Conflict] = []
    /// The lines about tests that earlier issues had, by request.
    private var reported: [String: Set<String>] = [:]

    /// The recorded exchanges of a test, or of a test with one of its arguments.
    struct Test: Sendable {
        let name: SubstitutionScope.TestName
        /// The requests, without their responses, and the exchanges to keep.
        var recorded: [(request: TestSubstitutions.Request, exchange: RecordedExchange)] = []

        var exchanges: [RecordedExchange] { recorded.map(\.exchange) }

        mutating func add(_ exchange: RecordedExchange, to request: TestSubstitutions.Request) {
            var request = request
            request.response = nil
            recorded.append((request, exchange))
        }

        /// Returns whether a test comes before another in the source code. One test's recordings with different
        /// arguments are ordered by their exchanges.
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
        /// Why a map can't tell the requests apart, as a clause that begins with a comma; or an empty string.
        let reason: String
        /// A line for each test.
        let tests: [String]
        let place: SourceLocation
    }

    init(file: URL, resources: URL?) {
        (self.file, self.resources) = (file, resources)
    }

    /// The folder with the entries' files, looked up on each access.
    var folder: URL {
        URL(fileURLWithPath: SubstitutionMap.folder(beside: file, or: resources).path, isDirectory: true)
    }

    /// Returns the map as it was before the run. If another program has changed the file since, the run starts over
    /// with the changed map.
    mutating func current() throws -> MapBeforeRun {
        let now = FileStatus(path: file.path)
        if let base, now == status { return base }
        let mapFile = now == nil ? nil : try MapFile(file)
        let new = MapBeforeRun(mapFile, try mapFile.map { try load($0, .any) } ?? .empty)
        (base, status, draft) = (new, now, nil)
        for index in tests.indices {
            tests[index].recorded.removeAll { request, exchange in
                if let replaced = exchange.replaced { return new.recorded?.contains(replaced) != true }
                return new.missing(for: request) == nil
            }
        }
        return new
    }

    /// Returns the map before the run, with a test's own handlers.
    ///
    /// - Parameter leavesRecorded: Whether recorded entries leave their requests to the network, in a run that records
    ///   everything again.
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

    private func load(_ file: MapFile, _ handlers: SubstitutionMap.HandlerTable) throws -> SubstitutionMap {
        try SubstitutionMap(file, resources: resources, invalidEntries: .reject, handlers: handlers)
    }

    /// Adds a test's responses, and saves the map. Returns the outcome for each response, and the error if something
    /// failed after the map was saved.
    mutating func add(
        _ test: Test
    ) throws -> (outcomes: [Result<EditedMap.AddedExchange, MapToolError>], problem: (any Error)?) {
        let place = tests.firstIndex { test < $0 } ?? tests.endIndex
        tests.insert(test, at: place)
        var edited = try EditedMap(file, resources: folder, replacing: draft)
        let (outcomes, conflicts) = edited.add(tests: tests.map(\.exchanges))
        var problem: (any Error)?
        do {
            try edited.save()
        } catch {
            guard edited.isSaved else { throw error }
            problem = error
        }
        let added = edited.added
        // The status as the map was saved, so that later changes by others are noticed.
        (draft, status) = (added, added.status)
        self.conflicts = conflicts.compactMap { conflict($0) }
        return (outcomes[place], problem)
    }

    /// Adds the tests' names and places to a conflict. Returns `nil` if no test's response is kept.
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

    /// Returns an issue for each new conflict. If a reported conflict has more tests now, its new issue lists only
    /// those tests.
    mutating func unreportedConflicts() -> [(text: String, place: SourceLocation)] {
        conflicts.compactMap { conflict in
            let known = reported[conflict.request, default: []]
            let tests = conflict.tests.filter { !known.contains($0) }
            reported[conflict.request] = known.union(tests)
            guard !tests.isEmpty else { return nil }
            let text =
                known.isEmpty
                ? "\(conflict.request) got different responses in these tests, and a map can't tell the requests apart"
                    + "\(conflict.reason). \(file.lastPathComponent) keeps the response of the first test. "
                    + "Give the other tests their own map."
                : "\(conflict.request) got different responses in \(tests.count == 1 ? "another test" : "other tests"), too. "
                    + "An earlier issue names the other tests. Give all but one their own map."
            return (text + tests.joined(), conflict.place)
        }
    }
}
#endif
