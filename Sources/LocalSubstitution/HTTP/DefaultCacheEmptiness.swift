import Foundation
import Guarded

/// Whether `URLCache` certainly has nothing stored, so that it need not be asked.
///
/// Linux's `URLCache` lists its folder for every lookup that it doesn't find in memory. Linux's loader never stores a response by
/// itself, so the folder is nearly always empty, and its status tells whether it still is: also when another process or another
/// cache stores there.
final class DefaultCacheEmptiness: Sendable {
    private enum Knowledge: Sendable {
        case unknown
        /// The folder had this status, and no responses in it. `nil` if there was no folder.
        case empty(FileStatus?)
        /// This cache has stored something, at least in memory.
        case ended
    }

    private let folder: String?
    private let knowledge = Guarded(Knowledge.unknown)

    /// - Parameter folder: `nil` if it isn't known: then the cache is always asked.
    init(of folder: String?) {
        #if canImport(Darwin)
        self.folder = nil
        #else
        self.folder = folder
        #endif
    }

    /// Notes that something is stored.
    func end() { knowledge.withLock { $0 = .ended } }

    /// Looks for something, unless nothing is there.
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

    /// - Parameter status: As it was before anything was looked for.
    private func learn(_ folder: String, _ status: FileStatus?) {
        if let status {
            // Something stored within a tick of the file system's clock might not show. And a folder that can't be listed, for
            // want of a descriptor perhaps, may have anything in it.
            guard !status.isTooFresh(at: FileStatus.now),
                let names = try? FileManager.default.contentsOfDirectory(atPath: folder), names.isEmpty
            else { return }
        }
        knowledge.withLock { if case .ended = $0 {} else { $0 = .empty(status) } }
    }
}
