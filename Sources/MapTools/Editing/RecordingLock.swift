package import Foundation
import Guarded
import LocalSubstitution
import MapWriting

/// A lock that lets only one process at a time record into a map.
///
/// The lock is a file in the temporary folder, since the map itself is replaced each time it's saved.
package enum RecordingLock {
    private static let held = Guarded<[String: FileLock]>([:])

    /// Locks a map for this process until the process ends. Does nothing if this process already has the lock.
    ///
    /// - Throws: An error if another process is recording into the map, or if the map can't be locked.
    package static func take(_ map: URL) throws(MapToolError) {
        let name = map.path
        try held.withLock { held throws(MapToolError) in
            if held[name] == nil { held[name] = try lock(name) }
        }
    }

    private static func lock(_ map: String) throws(MapToolError) -> FileLock {
        let name = "LocalSubstitution-\(Digest.hexadecimal(of: Data(map.utf8))).lock"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(map, path, errno) }
        if let lock = FileLock(takingNow: descriptor) { return lock }
        let code = errno
        close(descriptor)
        guard code == EWOULDBLOCK else { throw failure(map, path, code) }
        throw MapToolError(
            "Another process is recording into “\(map)”. Run the tests without --parallel, or wait until "
                + "the other process has ended."
        )
    }

    private static func failure(_ map: String, _ path: String, _ code: Int32) -> MapToolError {
        let reason = String(cString: strerror(code))
        return MapToolError(
            "“\(map)” can't be recorded into, since its lock “\(path)” can't be taken: \(reason). Remove the lock's file."
        )
    }
}
