import Foundation
import Guarded

/// The map in which requests are looked up, with a test's layers. If the cache reloads changes, the map is loaded again
/// when its file has changed.
final class MapInUse: Sendable {
    typealias Event = LocalSubstitutionCache.Event

    private struct State: Sendable {
        var layers: MapLayers
        /// Where the map came from; `nil` if its file isn't watched.
        var source: SubstitutionMap.Source?
        /// The problems of the last failed load. The same problems aren't reported twice in a row.
        var problems: [SubstitutionMap.Problem] = []
        /// When to load the file again after a failed load; `nil` after a successful one.
        var retry: Retry?
    }

    /// When to load an invalid map again even if the map's file doesn't change: a missing resource may have been added.
    private final class Retry: Sendable {
        /// In nanoseconds since 1970.
        let time: Int64
        let folder: String
        /// The folder's status before the failed load.
        let folderStatus: FileStatus?

        /// Whether to load the map again: ``time`` has come, or the folder's own status has changed. A change in a
        /// subfolder doesn't change that status.
        var isDue: Bool { System.now >= time || FileStatus(path: folder) != folderStatus }

        init(time: Int64, folder: String, folderStatus: FileStatus?) {
            (self.time, self.folder, self.folderStatus) = (time, folder, folderStatus)
        }
    }

    /// Whether a changed map or file is used from the next request on.
    let reloadsChanges: Bool
    private let state: Guarded<State>

    init(_ map: SubstitutionMap, reloadsChanges: Bool) {
        self.reloadsChanges = reloadsChanges
        state = Guarded(State(layers: MapLayers(map), source: reloadsChanges ? map.storage.source : nil))
    }

    /// Reading this property doesn't check the map's file.
    var map: SubstitutionMap { layers.map.map }

    var layers: MapLayers { state.withLock { $0.layers } }

    /// Replaces the map, and forgets which of the old map's entries have responded and how often. The other layers
    /// stay.
    ///
    /// - Parameter forget: A closure that drops the old map's responses. It's called before other threads can get the
    ///   new map.
    func set(_ map: SubstitutionMap, forget: () -> Void) {
        state.withLock {
            var layers = $0.layers
            layers.map = MapLayer(map)
            $0 = State(layers: layers, source: reloadsChanges ? map.storage.source : nil)
            forget()
        }
    }

    /// - Parameter forget: A closure that drops the responses made with the old layers.
    func change(_ layers: (inout MapLayers) -> Void, forget: () -> Void) {
        state.withLock {
            layers(&$0.layers)
            forget()
        }
    }

    /// Returns whether a layer is in use, and the map certainly needs no reload: its file hasn't changed, and no retry is
    /// due.
    func isCurrent(_ layer: MapLayer) -> Bool {
        // Copies what the check needs inside the lock and checks files outside it, so threads don't wait for each
        // other.
        let (isInUse, file, retry) = state.withLock { ($0.layers.contains(layer), $0.source?.file, $0.retry) }
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
        let started = System.now
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
            state.layers.map = MapLayer(map)
            forget()
            return Event(kind: .mapReloaded, url: nil, reason: map.count.counted("entry", "entries"))
        } catch {
            // Waits 20 times as long as the load took, and at least 0.5 s. Otherwise, loading a large invalid map again
            // and again would take all of the process's time.
            let took = System.now - started
            let time = System.now + max(500_000_000, took * 20)
            state.retry = Retry(time: time, folder: folderPath, folderStatus: folderStatus)
            if state.problems == error.problems { return nil }
            state.problems = error.problems
            return Event(kind: .mapNotReloaded, url: nil, reason: error.description)
        }
    }
}
