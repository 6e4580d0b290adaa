#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution
import MapTools
import Testing

/// The recording of a test, which all arguments of the test share. Its file's map is the last layer of the test's map.
/// In a recording run, requests to which nothing responds are loaded, and the responses are written to the file.
///
/// A trait begins the recording before the test, and ends it after all arguments. Without a trait, each outermost
/// `withSubstitutions` of the test writes what all of them have recorded so far.
final class Recording: Sendable {
    private struct State: Sendable {
        var arguments: [Argument] = []
        /// The recording's entries before this run first wrote it; `nil` until then.
        var beginning: RecordedMap.Beginning?
    }

    /// The test's part with one argument, or the whole test if it has none.
    final class Argument: Sendable {
        private struct State: Sendable {
            var items: [RecordedItem] = []
            /// The places of the calls of `withSubstitutions` so far.
            var calls: Set<SourceLocation> = []
            var hasRequests = false
            var hasThrown = false
            var hasEnded = false
        }

        let recording: Recording
        /// The recording's map with the counts for this argument; `nil` if the recording isn't used.
        let layer: MapLayer?
        /// The argument in words; `nil` for a test without arguments.
        let name: String?
        private let state = Guarded(State())

        fileprivate init(_ recording: Recording, _ name: String?) {
            (self.recording, self.name) = (recording, name)
            layer = RecordingMode.ofRun == .all ? nil : recording.map.map { MapLayer($0, name: recording.place.path) }
        }

        /// Notes a call of `withSubstitutions`. Returns `false` if there was an earlier call at the same place, which
        /// means that the test runs again.
        fileprivate func begin(_ call: SourceLocation) -> Bool { state.withLock { $0.calls.insert(call).inserted } }

        /// Adds the items of a scope that has ended.
        func add(_ items: [RecordedItem], hasRequests: Bool, hasThrown: Bool) {
            state.withLock { state in
                state.items += items
                state.hasRequests = state.hasRequests || hasRequests
                state.hasThrown = state.hasThrown || hasThrown
                state.hasEnded = true
            }
        }

        var items: [RecordedItem] { state.withLock { $0.items }.sorted { $0.number < $1.number } }
        var hasRequests: Bool { state.withLock { $0.hasRequests } }
        var hasThrown: Bool { state.withLock { $0.hasThrown } }
        /// Whether a scope has ended. If not, the test didn't begin, for example since it was cancelled before its turn.
        var hasEnded: Bool { state.withLock { $0.hasEnded } }
    }

    let place: RecordingPlace
    let test: SubstitutionScope.TestName
    /// The map on disk when the recording began; `nil` if there was none.
    let map: SubstitutionMap?
    let isOfTrait: Bool
    private let state = Guarded(State())

    private init(_ place: RecordingPlace, _ options: SubstitutionScope.Options) throws {
        (self.place, test, isOfTrait) = (place, options.test, options.isOfTrait)
        map = try options.source.recorded(at: place, options.handlers)
    }

    /// In the order of their names.
    var arguments: [Argument] {
        state.withLock { $0.arguments }.sorted {
            ($0.name ?? "").compare($1.name ?? "", options: .numeric) == .orderedAscending
        }
    }

    /// Reads the recording, so that it can be written. Each later write begins with the same entries, and writes
    /// everything again.
    func read(_ mode: RecordingMode) throws -> RecordedMap {
        let keepsEntries = mode == .missing
        let beginning = state.withLock { $0.beginning }
        let read = try RecordedMap(place.file, bodies: place.bodies, keepsEntries: keepsEntries, since: beginning)
        state.withLock { $0.beginning = read.beginning }
        return read
    }

    private func begin(argument name: String?) -> Argument {
        let argument = Argument(self, name)
        state.withLock { state in
            // Only a recording run needs what earlier runs of the test recorded.
            if !RecordingMode.isOn { state.arguments.removeAll { $0.name == name } }
            state.arguments.append(argument)
        }
        return argument
    }

    /// Returns the part of the test to which a call of `withSubstitutions` belongs, for a test without a trait.
    private func argument(of call: SourceLocation, _ name: String?) -> Argument {
        let last = state.withLock { $0.arguments.last { $0.name == name } }
        if let last, last.begin(call) { return last }
        let argument = begin(argument: name)
        _ = argument.begin(call)
        return argument
    }
}

/// The recordings of this process's tests.
extension Recording {
    private struct Known: Sendable {
        /// The tests by the folded paths of their recordings: see ``RecordingPlace/folded``.
        var tests: [String: SubstitutionScope.TestName] = [:]
        /// The recordings that may get more responses, by the test.
        var open: [String: Recording] = [:]
    }

    private static let known = Guarded(Known())

    /// Begins the recording of a test whose trait has these options. Returns `nil` if the test isn't recorded.
    ///
    /// - Throws: An error if another test has the same recording, or if the recording can't be read.
    static func begin(_ options: SubstitutionScope.Options) throws -> Recording? {
        guard options.unmatched.isRecorded else { return nil }
        let recording = try make(options)
        known.withLock { $0.open[options.test.identity] = recording }
        return recording
    }

    private static func make(_ options: SubstitutionScope.Options) throws -> Recording {
        let test = options.test
        let place = RecordingPlace(
            in: options.source.recordings,
            sourceFile: test.sourceFile,
            components: test.components
        )
        if test.isCertain {
            let other = known.withLock { known in
                let other = place.folded.compactMap { known.tests[$0] }.first { $0.identity != test.identity }
                if other == nil { for path in place.folded { known.tests[path] = test } }
                return other
            }
            if let other {
                throw Complaint(
                    "The tests \(other.description) and \(test.description) have the same recording, “\(place.path)”. "
                        + "Rename one of them."
                )
            }
        }
        return try Recording(place, options)
    }

    /// Ends the recording of a test with a trait. If the test runs again, its recording begins afresh.
    func close() {
        Self.known.withLock { $0.open[test.identity] = nil }
        // Each argument holds the recording, which would hold the argument.
        state.withLock { $0.arguments = [] }
    }

    /// Returns the part of the recording for a scope. Returns `nil` if the test isn't recorded.
    ///
    /// - Throws: An error if another test has the same recording, or if the recording can't be read.
    static func argument(for options: SubstitutionScope.Options) throws -> Argument? {
        guard options.unmatched.isRecorded else { return nil }
        let (identity, name) = (options.test.identity, Test.Case.current?.argumentsText)
        let open = known.withLock { $0.open[identity] }
        if options.isOfTrait { return try (open ?? begin(options))?.begin(argument: name) }
        if let outer = TestSubstitutions.inForce?.recording { return outer }
        if let open { return open.argument(of: options.place, name) }
        let new = try make(options)
        let recording = known.withLock { known in
            let recording = known.open[identity] ?? new
            known.open[identity] = recording
            return recording
        }
        return recording.argument(of: options.place, name)
    }

    /// Whether the scope that has just ended writes the recording: there's no trait, and no scope around it.
    var isWrittenByScope: Bool { !isOfTrait && TestSubstitutions.inForce?.recording == nil }
}

extension Recording {
    /// Returns a test case's arguments in words, such as `2, "b"`.
    ///
    /// Swift Testing has no public way to get the arguments. Where they aren't found, returns the whole case in words, which
    /// still tells arguments apart.
    static func argumentsText(of testCase: Any) -> String {
        func arguments(in value: Any, depth: Int) -> [Any]? {
            let children = Mirror(reflecting: value).children
            if let found = children.first(where: { $0.label == "arguments" })?.value {
                return Mirror(reflecting: found).children.map(\.value)
            }
            return depth == 0 ? nil : children.lazy.compactMap { arguments(in: $0.value, depth: depth - 1) }.first
        }
        guard let found = arguments(in: testCase, depth: 3), !found.isEmpty else { return "\(testCase)" }
        let values = found.map { argument in
            Mirror(reflecting: argument).children.first { $0.label == "value" }?.value ?? argument
        }
        return values.map { String(describingForTest: $0) }.joined(separator: ", ")
    }
}

extension Test.Case {
    fileprivate var argumentsText: String? { isParameterized ? Recording.argumentsText(of: self) : nil }
}
#endif
