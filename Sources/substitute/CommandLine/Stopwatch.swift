import Dispatch

/// Measures the time since it was made.
struct Stopwatch: Sendable {
    private let start = DispatchTime.now()

    var milliseconds: Double { Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6 }
}
