/// What to look at before a retained response is handed out again: its map and file, with live reload, its age, and
/// whether a newer copy has come.
final class Watch: Sendable {
    let reload: LiveReload?
    /// The map by which the response was made.
    let map: SubstitutionMap
    /// `nil` for an entry without a file.
    let path: String?
    let file: FileBytes?
    /// In nanoseconds since 1970: when the loader will not take the response any more. `nil` where the entry sets no limit.
    let expiresAt: Int64?
    /// `nil` for an entry that is not `untilUpdated`.
    let update: UpdateRecord.Stamp?

    /// `nil` where there is nothing to look at.
    init?(
        reload: LiveReload?,
        map: SubstitutionMap,
        path: String?,
        file: FileBytes?,
        lifetime: Double?,
        update: UpdateRecord.Stamp? = nil
    ) {
        guard reload != nil || lifetime != nil || update != nil else { return nil }
        self.reload = reload
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
        guard let reload else { return true }
        guard reload.isCurrent(map) else { return false }
        guard let path, let file else { return true }
        return FileStatus(path: path).map(file.isCurrent) ?? false
    }
}
