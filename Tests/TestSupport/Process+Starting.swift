#if os(Linux) || os(macOS)
package import Foundation

extension Process {
    private static let turn = NSLock()

    /// Starts the process.
    ///
    /// With about 1,300 open descriptors, Foundation on Linux reads past the end of the buffer in which it lists them
    /// (`Process.swift`, `findMaximumOpenFromProcSelfFD`, Swift 6.3.1), and crashes if no memory follows. So a larger block is
    /// freed just before, and the buffer takes its place.
    package func start() throws {
        try Self.turn.withLock {
            let block = UnsafeMutableRawPointer.allocate(byteCount: 100 << 10, alignment: 16)
            block.initializeMemory(as: UInt8.self, repeating: 0, count: 100 << 10)
            block.deallocate()
            try run()
        }
    }

    /// Runs the process to its end without blocking a thread.
    package func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in continuation.resume() }
            do {
                try start()
            } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
#endif
