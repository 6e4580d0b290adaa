import Foundation
import Guarded

/// Watches a map's file, and loads the map again when the file has changed.
final class LiveReload: Sendable {
    enum Outcome {
        case unchanged
        case changed(SubstitutionMap)
        /// The last good map stays in place.
        case failed(SubstitutionMapError)
    }

    private struct State: Sendable {
        /// The map in use.
        var map: SubstitutionMap
        var source: SubstitutionMap.Source?
        /// The problems that were told last, so that each is told once.
        var problems: [SubstitutionMapError.Problem] = []
        /// Set where the map's file does not load.
        var retry: Retry?

        var isRetryDue: Bool { retry?.isDue ?? false }
    }

    /// When a map that does not load is looked at again, though its file is the same: a file that it names may have come.
    private struct Retry: Sendable {
        let time: Int64
        let folder: String
        /// As it was before the map was loaded in vain.
        let folderStatus: FileStatus?

        /// At once if something has come into the folder; what has come deeper is found in time.
        var isDue: Bool { FileStatus.now >= time || FileStatus(path: folder) != folderStatus }
    }

    private let state: Guarded<State>

    init(_ map: SubstitutionMap) {
        state = Guarded(State(map: map, source: map.storage.source))
    }

    /// Watches another map instead; one that was made in code has no file to watch.
    ///
    /// - Parameter use: Puts the map in place, before anybody can find that map unchanged.
    func follow(_ map: SubstitutionMap, use: (SubstitutionMap) -> Void) {
        state.withLock {
            $0 = State(map: map, source: map.storage.source)
            use(map)
        }
    }

    /// Whether this map is the one in use, and its file certainly has not changed.
    func isCurrent(_ map: SubstitutionMap) -> Bool {
        // Files are looked at without the lock: many ask at a time, and whoever puts another map in place meanwhile has asked later.
        let state = state.withLock { $0 }
        guard state.map.storage === map.storage else { return false }
        guard let source = state.source else { return true }
        return source.file.isCurrent && !state.isRetryDue
    }

    /// Looks at the map's file, and whoever finds it changed loads it and puts it in place while the others wait.
    func check(use: (SubstitutionMap) -> Void) -> Outcome {
        state.withLock { state in
            guard let source = state.source else { return .unchanged }
            let isRetry = state.isRetryDue
            if !isRetry, source.file.isCurrent { return .unchanged }
            let outcome = Self.reload(&state, source, isRetry: isRetry)
            if case .changed(let map) = outcome {
                state.map = map
                use(map)
            }
            return outcome
        }
    }

    private static func reload(_ state: inout State, _ source: SubstitutionMap.Source, isRetry: Bool) -> Outcome {
        let started = FileStatus.now
        let folderPath = (source.resources ?? SubstitutionMap.folder(beside: source.file.url)).path
        let folderStatus = FileStatus(path: folderPath)
        do throws(SubstitutionMapError) {
            let file = try MapFile(source.file.url)
            state.source?.file = file.withoutBytes
            if !isRetry, file.digest == source.file.digest { return .unchanged }
            let folder = SubstitutionMap.folder(beside: file.url, or: source.resources)
            let map = try SubstitutionMap(file, resources: source.resources, folder: folder, strict: source.strict)
            let wasBroken = !state.problems.isEmpty
            state.problems = []
            state.retry = nil
            return isRetry && !wasBroken ? .unchanged : .changed(map)
        } catch {
            // Loading a large map takes time; it must not take all of it.
            let took = FileStatus.now - started
            let time = FileStatus.now + max(500_000_000, took * 20)
            state.retry = Retry(time: time, folder: folderPath, folderStatus: folderStatus)
            if state.problems == error.problems { return .unchanged }
            state.problems = error.problems
            return .failed(error)
        }
    }
}
