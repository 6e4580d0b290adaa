import Foundation
import Guarded

/// The map that answers requests. If the cache reloads changes, the map is loaded again when its file has changed.
final class MapInUse: Sendable {
    typealias Event = LocalSubstitutionCache.Event

    private struct State: Sendable {
        var map: SubstitutionMap
        /// The numbers of the entries that have answered since the map was set.
        var used: Set<Int> = []
        /// The number of requests that each alternative with a `times` limit has answered since the map was set.
        var answers: [MapMatch.Count: Int] = [:]
        /// Where the map came from; `nil` if its file isn't watched.
        var source: SubstitutionMap.Source?
        /// The problems of the last failed load. The same problems aren't reported twice in a row.
        var problems: [SubstitutionMap.Problem] = []
        /// When to load the file again after a failed load; `nil` after a successful one.
        var retry: Retry?
    }

    /// When to load an invalid map again even if the map's file doesn't change: a missing resource may have been added.
    private final class Retry: Sendable {
        /// When to load the file again, in nanoseconds since 1970.
        let time: Int64
        let folder: String
        /// The folder's status before the failed load.
        let folderStatus: FileStatus?

        /// Whether to load the map again: ``time`` has come, or the folder's own status has changed. A change in a
        /// subfolder doesn't change that status.
        var isDue: Bool { FileStatus.now >= time || FileStatus(path: folder) != folderStatus }

        init(time: Int64, folder: String, folderStatus: FileStatus?) {
            (self.time, self.folder, self.folderStatus) = (time, folder, folderStatus)
        }
    }

    /// Whether a changed map or file is used from the next request on.
    let reloadsChanges: Bool
    private let state: Guarded<State>

    init(_ map: SubstitutionMap, reloadsChanges: Bool) {
        self.reloadsChanges = reloadsChanges
        state = Guarded(State(map: map, source: reloadsChanges ? map.storage.source : nil))
    }

    /// The map in use. Reading this property doesn't check the map's file.
    var map: SubstitutionMap { state.withLock { $0.map } }

    /// Replaces the map, and forgets which of the old map's entries have answered and how often.
    ///
    /// - Parameter forget: A closure that drops the old map's responses. It's called before other threads can get the
    ///   new map.
    func set(_ map: SubstitutionMap, forget: () -> Void) {
        state.withLock {
            $0 = State(map: map, source: reloadsChanges ? map.storage.source : nil)
            forget()
        }
    }

    /// Returns whether a map is in use and certainly needs no reload: its file hasn't changed, and no retry is due.
    func isCurrent(_ map: SubstitutionMap) -> Bool {
        // Copies what the check needs inside the lock and checks files outside it, so threads don't wait for each
        // other.
        let (isInUse, file, retry) = state.withLock { ($0.map.storage === map.storage, $0.source?.file, $0.retry) }
        guard isInUse else { return false }
        guard let file else { return true }
        return file.isCurrent && !(retry?.isDue ?? false)
    }

    /// Loads the map again if its file has changed, or if a retry after a failed load is due. One thread loads the map
    /// while the others wait.
    ///
    /// If the file has problems, the last good map stays in use.
    ///
    /// - Parameter forget: A closure that drops the old map's responses. It's called before other threads can get the
    ///   new map.
    /// - Returns: The event to report; `nil` if there's nothing to report.
    func reloadIfChanged(forget: () -> Void) -> Event? {
        guard reloadsChanges else { return nil }
        return state.withLock { state in
            guard let source = state.source else { return nil }
            let isRetry = state.retry?.isDue ?? false
            if !isRetry, source.file.isCurrent { return nil }
            return Self.reload(&state, source, isRetry: isRetry, forget)
        }
    }

    private static func reload(
        _ state: inout State,
        _ source: SubstitutionMap.Source,
        isRetry: Bool,
        _ forget: () -> Void
    ) -> Event? {
        let started = FileStatus.now
        let folderPath = ResourcesFolder(beside: source.file.url, or: source.resources).path
        let folderStatus = FileStatus(path: folderPath)
        do throws(SubstitutionMapError) {
            let file = try MapFile(source.file.url)
            state.source = source.with(file)
            if !isRetry, file.digest == source.file.digest { return nil }
            let map = try SubstitutionMap(
                file,
                resources: source.resources,
                isInBundle: source.isInBundle,
                invalidEntries: source.invalidEntries,
                handlers: source.handlers
            )
            let wasBroken = !state.problems.isEmpty
            state.problems = []
            state.retry = nil
            if isRetry, !wasBroken { return nil }
            (state.map, state.used, state.answers) = (map, [], [:])
            forget()
            return Event(kind: .mapReloaded, url: nil, reason: map.count.counted("entry", "entries"))
        } catch {
            // Waits 20 times as long as the load took, and at least 0.5 s. Otherwise, loading a large invalid map again
            // and again would take all of the process's time.
            let took = FileStatus.now - started
            let time = FileStatus.now + max(500_000_000, took * 20)
            state.retry = Retry(time: time, folder: folderPath, folderStatus: folderStatus)
            if state.problems == error.problems { return nil }
            state.problems = error.problems
            return Event(kind: .mapNotReloaded, url: nil, reason: error.description)
        }
    }

    // MARK: Used entries

    /// Notes that a plan's entry has answered a request.
    func use(_ plan: Plan) {
        guard let entry = plan.match?.number else { return }
        state.withLock { if $0.map.storage === plan.map.storage { $0.used.insert(entry) } }
    }

    /// The entries that haven't answered a request since the map was set, in the order of their lines.
    var unusedEntries: [SubstitutionMap.EntryReference] {
        let (map, used) = state.withLock { ($0.map, $0.used) }
        let entries = map.storage.index.entries
        return entries.indices.filter {
            !used.contains($0) && !entries[$0].options.isNever && entries[$0].options.isEnabled
        }
        .map { SubstitutionMap.EntryReference(entries[$0]) }.ordered { ($0.line ?? 0, $0.key) < ($1.line ?? 0, $1.key) }
    }

    // MARK: Alternatives with a limit

    /// Returns whether an alternative has reached its limit of `times`; `false` if another map is in use by now.
    func isUsedUp(_ count: MapMatch.Count, of map: SubstitutionMap) -> Bool {
        state.withLock { $0.map.storage === map.storage && $0.answers[count, default: 0] >= count.most }
    }

    /// Counts a plan's answer, if its alternative has a limit of `times`. Returns whether the plan may answer: `false`
    /// only if the limit was already reached. Nothing is counted in that case, or if another map is in use by now.
    func count(_ plan: Plan) -> Bool {
        guard let count = plan.match?.count else { return true }
        return state.withLock { state in
            guard state.map.storage === plan.map.storage else { return true }
            guard state.answers[count, default: 0] < count.most else { return false }
            state.answers[count, default: 0] += 1
            plan.isCounted.withLock { $0 = true }
            return true
        }
    }

    /// Takes back what ``count(_:)`` counted, for a request that wasn't answered after all. A second call has no
    /// effect.
    func uncount(_ plan: Plan) {
        guard let count = plan.match?.count else { return }
        state.withLock { state in
            let wasCounted = plan.isCounted.withLock { isCounted in
                defer { isCounted = false }
                return isCounted
            }
            guard wasCounted, state.map.storage === plan.map.storage else { return }
            state.answers[count, default: 1] -= 1
        }
    }
}
