import Dispatch
import Foundation

/// Tells when somebody wants the process to end: Ctrl-C, or `kill`. From its making on neither ends it by itself.
struct EndSignal {
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Void>

    /// Returns once a signal can be seen: one that arrives before its source is registered is lost.
    init() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM] {
            // Ignored first: on Linux the source sets an action of its own when it is registered.
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

    /// Waits for one; also for one that has come already.
    func wait() async {
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
