import Dispatch

/// Measures time from its making on.
struct Stopwatch: Sendable {
    private let start = DispatchTime.now()

    var milliseconds: Double { Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6 }
}
