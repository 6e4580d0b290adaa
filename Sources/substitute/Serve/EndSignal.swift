import Dispatch
import Foundation

/// Waits for Ctrl-C or `kill`. From its creation on, neither ends the process directly.
struct EndSignal {
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Void>

    /// Returns once signals are caught. One that arrived before its source is registered would be lost.
    init() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM] {
            // Ignored first, since on Linux the source sets its own action when it's registered.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler { continuation.yield() }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Waits for a signal. Returns immediately if one has already arrived.
    func wait() async {
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
