import Foundation
import Guarded

/// A record of whether `URLCache` is certainly empty, and needn't be asked.
///
/// Linux's `URLCache` lists its folder for every lookup that it doesn't find in memory. Linux's loader never stores a response by
/// itself, so the folder is nearly always empty. The folder's status tells whether it still is, even if another process or another
/// cache stores responses there.
final class DefaultCacheEmptiness: Sendable {
    private enum Knowledge: Sendable {
        case unknown
        /// The folder had this status and no responses, or didn't exist if the status is `nil`.
        case empty(FileStatus?)
        /// This cache has stored something, at least in memory.
        case ended
    }

    private let folder: String?
    private let knowledge = Guarded(Knowledge.unknown)

    /// - Parameter folder: The cache's folder. If it's `nil`, the cache is always asked.
    init(of folder: String?) {
        #if canImport(Darwin)
        self.folder = nil
        #else
        self.folder = folder
        #endif
    }

    /// Notes that a response is stored.
    func end() { knowledge.withLock { $0 = .ended } }

    /// Returns what a closure finds. Doesn't call it if the cache is certainly empty.
    func unlessEmpty<Found>(_ find: () -> Found?) -> Found? {
        guard let folder else { return find() }
        let status: FileStatus?
        switch knowledge.withLock({ $0 }) {
        case .ended:
            return find()
        case .empty(let known):
            status = FileStatus(path: folder)
            if status == known { return nil }
        case .unknown:
            status = FileStatus(path: folder)
        }
        let found = find()
        if found == nil { learn(folder, status) }
        return found
    }

    /// - Parameter status: The folder's status before the search.
    private func learn(_ folder: String, _ status: FileStatus?) {
        if let status {
            // A response that was stored within a tick of the file system's clock might not show. And a folder that can't be
            // listed, perhaps because the process has no descriptor left, may contain anything.
            guard !status.isTooFresh(at: FileStatus.now),
                let names = try? FileManager.default.contentsOfDirectory(atPath: folder), names.isEmpty
            else { return }
        }
        knowledge.withLock { if case .ended = $0 {} else { $0 = .empty(status) } }
    }
}
