import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads a request's body stream once. It uses its own thread, since reading waits for the app to write.
final class BodyReader: CancellableWork {
    typealias Done = @Sendable (Result<ReadBody, URLError>) -> Void

    private let done: Guarded<Done?>

    /// - Parameter done: Called once, unless reading is cancelled.
    init(_ stream: InputStream, done: @escaping Done) {
        self.done = Guarded(done)
        // Nothing else uses the stream.
        nonisolated(unsafe) let stream = stream
        Thread.detachNewThread { [self] in
            stream.open()
            let result = Result { () throws(URLError) in try read(stream) }
            stream.close()
            end(result)
        }
    }

    /// Ends reading with an error, because it takes too long.
    func timeOut() { end(.failure(URLError(.timedOut))) }

    /// Cancels reading. If the thread is waiting for the app to write, it ends only when the app does.
    func cancel() { done.withLock { $0 = nil } }

    private func end(_ result: Result<ReadBody, URLError>) { done.withLock { $0.take() }?(result) }

    private func read(_ stream: InputStream) throws(URLError) -> ReadBody {
        var data = Data()
        while let piece = try piece(of: stream) {
            data.append(piece)
            guard data.count > RequestBody.limit else { continue }
            let file = try BodyFile()
            try file.append(data)
            while let piece = try self.piece(of: stream) { try file.append(piece) }
            return .long(file)
        }
        return .data(data)
    }

    /// Returns some bytes; `nil` at the end of the stream.
    private func piece(of stream: InputStream) throws(URLError) -> Data? {
        guard done.withLock({ $0 != nil }) else { throw URLError(.cancelled) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count >= 0 else {
            let reason = stream.streamError?.localizedDescription ?? "its stream failed"
            throw .explained(.requestBodyStreamExhausted, "The request's body can't be read: \(reason.sentence)", nil)
        }
        return count == 0 ? nil : Data(buffer[..<count])
    }
}
