import Dispatch
import Foundation

/// Tells when somebody wants the process to end: Ctrl-C, or `kill`. From its making on neither ends it by itself.
struct EndSignal {
    private let sources: [any DispatchSourceSignal]
    private let signals: AsyncStream<Void>

    init() {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        sources = [SIGINT, SIGTERM].map { number in
            // A dispatch source sees a signal besides what becomes of it, which is to be nothing.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Waits for one; also for one that has come already.
    func wait() async {
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
