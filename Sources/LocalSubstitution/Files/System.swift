import Foundation

/// What Darwin and Linux declare differently.
package enum System {
    #if canImport(Darwin)
    /// The flag to open a file only for its status and real path. Darwin has none that needs no read permission.
    static let placeOnly: Int32 = 0
    // Linux's CLOCK_MONOTONIC stops while the device sleeps. Darwin's doesn't, and Darwin has no CLOCK_BOOTTIME.
    private static let steadyClock = CLOCK_MONOTONIC
    #else
    /// The flag to open a file only for its status and real path. The number is `O_PATH`, which needs no read permission.
    /// The Glibc module lacks the name.
    static let placeOnly: Int32 = 0o10_000_000
    private static let steadyClock = CLOCK_BOOTTIME
    #endif

    /// `nil` if the system doesn't know the path. The kernel looks the path up by the descriptor, so another thread
    /// can't redirect it. On Linux, a deleted file's path ends in “ (deleted)”.
    package static func realPath(of descriptor: Int32) -> [UInt8]? {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            #if canImport(Darwin)
            guard let start = buffer.baseAddress, fcntl(descriptor, F_GETPATH, UnsafeMutableRawPointer(start)) == 0
            else {
                return
            }
            count = buffer.firstIndex(of: 0) ?? 0
            #else
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink("/proc/self/fd/\(descriptor)", $0, buffer.count)) } ?? 0
            }
            #endif
        }
        return path.first == UInt8(ascii: "/") ? path : nil
    }

    // MARK: Times in nanoseconds

    /// Since 1970.
    package static var now: Int64 { time(CLOCK_REALTIME) }

    /// Since a moment before the process began. This clock never goes back, and keeps running while the device sleeps.
    /// Setting the system's clock doesn't change it.
    static var steadyNow: Int64 { time(steadyClock) }

    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return nanoseconds(time)
    }

    /// When a file was last modified, and when its inode last changed, since 1970.
    static func times(of status: stat) -> (modified: Int64, changed: Int64) {
        #if canImport(Darwin)
        (nanoseconds(status.st_mtimespec), nanoseconds(status.st_ctimespec))
        #else
        (nanoseconds(status.st_mtim), nanoseconds(status.st_ctim))
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
