/// What to look at before a retained response is returned again: its map and file where changes are reloaded, its age, and
/// whether a newer copy has arrived.
final class Watch: Sendable {
    /// The map in use, if changes are reloaded.
    private let maps: MapInUse?
    /// The map by which the response was made.
    private let map: SubstitutionMap
    /// `nil` for an entry without a file.
    private let path: String?
    private let file: FileBytes?
    /// In nanoseconds since 1970: when the loader stops taking the response. `nil` where the entry sets no limit.
    private let expiresAt: Int64?
    /// `nil` for an entry that isn't `untilUpdated`.
    private let update: UpdateRecord.Stamp?

    /// `nil` where there is nothing to look at.
    init?(
        _ maps: MapInUse,
        _ map: SubstitutionMap,
        path: String?,
        file: FileBytes?,
        lifetime: Double?,
        update: UpdateRecord.Stamp?
    ) {
        guard maps.reloadsChanges || lifetime != nil || update != nil else { return nil }
        self.maps = maps.reloadsChanges ? maps : nil
        self.map = map
        self.path = path
        self.file = file
        expiresAt = lifetime.map { FileStatus.now &+ Int64(min($0, 1e9) * 1e9) }
        self.update = update
    }

    /// Whether the response certainly still is what map and file say. If not, it may be all the same: only reading tells.
    var holds: Bool { !hasExpired && isUnchanged }

    var hasExpired: Bool { expiresAt.map { FileStatus.now >= $0 } ?? false || update?.hasExpired ?? false }

    private var isUnchanged: Bool {
        guard let maps else { return true }
        guard maps.isCurrent(map) else { return false }
        guard let path, let file else { return true }
        return FileStatus(path: path).map(file.isCurrent) ?? false
    }
}
