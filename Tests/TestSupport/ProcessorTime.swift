import Foundation

/// Returns the processor time that work takes on this thread, in seconds, whatever else the machine does.
package func processorTime(of work: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try work()
    return now() - start
}

/// Returns whether work on ten times as much takes about ten times as long, rather than a hundred times.
///
/// - Parameters:
///   - count: How much the first measurement works on; enough to take a few milliseconds if the work isn't linear.
///   - make: Makes what to work on. It isn't measured.
package func takesLinearTime<Input>(
    from count: Int,
    of make: (Int) throws -> Input,
    _ work: (Input) throws -> Void
) rethrows -> Bool {
    let (few, many) = (try make(count), try make(10 * count))
    // The first time also makes what is made only once.
    try work(few)
    // On a busy machine, one attempt may fail.
    for _ in 0..<4 {
        let short = try processorTime { try work(few) }
        let long = try processorTime { try work(many) }
        if long < 25 * short + 0.01 { return true }
    }
    return false
}
