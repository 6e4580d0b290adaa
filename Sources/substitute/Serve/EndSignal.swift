import Dispatch
import Foundation
import Guarded

/// Waits until somebody wants the process to end: Ctrl-C, or `kill`.
enum EndSignal {
    static func wait() async {
        let sources = [SIGINT, SIGTERM].map { number in
            // A dispatch source sees a signal besides what becomes of it, which is to be nothing.
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let waiting = Guarded<CheckedContinuation<Void, Never>?>(continuation)
            for source in sources {
                source.setEventHandler { waiting.withLock { $0.take() }?.resume() }
                source.resume()
            }
        }
        for source in sources { source.cancel() }
    }
}
