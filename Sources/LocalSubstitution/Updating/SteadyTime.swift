import Foundation

/// A clock that never goes back and that keeps running while the device sleeps. Setting the system's clock doesn't change it.
enum SteadyTime {
    /// The time in nanoseconds since a moment before the process began.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    // Linux's CLOCK_MONOTONIC stops while the device sleeps. Darwin's doesn't, and Darwin has no CLOCK_BOOTTIME.
    #if canImport(Darwin)
    private static let clock = CLOCK_MONOTONIC
    #else
    private static let clock = CLOCK_BOOTTIME
    #endif
}
