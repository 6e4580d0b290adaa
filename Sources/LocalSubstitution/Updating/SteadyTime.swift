import Foundation

/// A time that only goes forward, also while the device sleeps, whatever somebody sets the clock to.
enum SteadyTime {
    /// In nanoseconds since some moment before the process began.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    // Linux's CLOCK_MONOTONIC stands still while the device sleeps; Darwin's does not, and there is no other there.
    #if canImport(Darwin)
    private static let clock = CLOCK_MONOTONIC
    #else
    private static let clock = CLOCK_BOOTTIME
    #endif
}
