/// Tells whether a retained response is still valid. It checks the map and file if changes are reloaded, the age, and whether
/// a newer copy has arrived.
final class RetainedResponseValidity: Sendable {
    /// The map in use, if changes are reloaded.
    private let maps: MapInUse?
    /// The map by which the response was made.
    private let map: SubstitutionMap
    /// `nil` for an entry without a file.
    private let path: String?
    private let file: FileBytes?
    /// The names of files with which another entry would answer.
    private let missing: [String]
    /// When the loader stops accepting the response, in nanoseconds since 1970; `nil` if the entry sets no limit.
    private let expiresAt: Int64?
    /// `nil` for an entry that isn't `untilUpdated`.
    private let update: UpdateRecord.Stamp?

    /// `nil` if the response is always valid.
    init?(
        _ maps: MapInUse,
        _ map: SubstitutionMap,
        path: String?,
        file: FileBytes?,
        missing: [String] = [],
        lifetime: Double?,
        update: UpdateRecord.Stamp?
    ) {
        guard maps.reloadsChanges || lifetime != nil || update != nil else { return nil }
        self.maps = maps.reloadsChanges ? maps : nil
        self.map = map
        self.path = path
        self.file = file
        self.missing = missing
        expiresAt = lifetime.map { FileStatus.now &+ Int64(min($0, 1e9) * 1e9) }
        self.update = update
    }

    /// Whether a newer copy may be what answers.
    var mayBeNewer: Bool { update != nil }

    /// Whether the response is certainly still what map and file say. If this is `false`, only reading the file tells.
    var holds: Bool { !hasExpired && isUnchanged }

    var hasExpired: Bool { expiresAt.map { FileStatus.now >= $0 } ?? false || update?.hasExpired ?? false }

    private var isUnchanged: Bool {
        guard let maps else { return true }
        guard maps.isCurrent(map), missing.allSatisfy(isMissing) else { return false }
        guard let path, let file else { return true }
        return FileStatus(path: path).map(file.isCurrent) ?? false
    }

    private func isMissing(_ name: String) -> Bool { map.storage.folder?.servedStatus(of: name) == nil }
}
