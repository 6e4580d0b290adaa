import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response that the cache keeps in memory, and what a hit needs to know about it.
///
/// It's a subclass so that a hit touches one object: the response that it returns.
// Foundation declares the superclass as unchecked, so a subclass must say it again. What this one adds is constant.
final class RetainedResponse: CachedURLResponse, @unchecked Sendable {
    /// The size of the body in bytes.
    let size: Int
    /// `nil` if the response is always valid.
    let validity: Validity?
    /// The key of the entry that answers.
    let key: String
    /// The path of the entry's file; `nil` for an entry without one.
    let file: String?

    init(_ response: CachedURLResponse, key: String, file: String?, validity: Validity?) {
        size = response.data.count
        self.validity = validity
        self.key = key
        self.file = file
        super.init(
            response: response.response,
            data: response.data,
            userInfo: response.userInfo,
            storagePolicy: response.storagePolicy
        )
    }

    // On Apple platforms, responses can be archived. Archives have plain ones.
    override var classForCoder: AnyClass { CachedURLResponse.self }
    required init?(coder: NSCoder) { nil }

    var hasExpired: Bool { validity?.hasExpired ?? false }
}

extension RetainedResponse {
    /// Tells whether a retained response is still valid. It checks the response's age, whether a newer copy has arrived,
    /// and, if changes are reloaded, the map and the file.
    final class Validity: Sendable {
        /// The map in use; `nil` if changes aren't reloaded.
        private let maps: MapInUse?
        /// The map that the response was made with.
        private let map: SubstitutionMap
        /// The file's path; `nil` for an entry without a file.
        private let path: String?
        private let file: FileBytes?
        /// The names of missing files. If one of them existed, another entry would answer.
        private let missing: [String]
        /// When the loader stops accepting the response, in nanoseconds since 1970; `nil` if the entry sets no limit.
        private let expiresAt: Int64?
        /// The state of the newer copy; `nil` if the entry isn't `untilUpdated`.
        private let update: RefreshSchedule.Record.Stamp?

        /// Returns `nil` if the response is always valid.
        init?(
            _ maps: MapInUse,
            _ map: SubstitutionMap,
            path: String?,
            file: FileBytes?,
            missing: [String] = [],
            lifetime: Double?,
            update: RefreshSchedule.Record.Stamp?
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

        /// Whether the response may be made from a newer copy.
        var mayBeNewer: Bool { update != nil }

        /// Whether the response certainly matches the current map and file. If this is `false`, only reading the file
        /// tells.
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
}
