#if os(Linux) || os(macOS)
package import Foundation

extension Process {
    /// Runs to the end, and holds up no thread until then.
    package func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in continuation.resume() }
            do {
                try run()
            } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
#endif
