import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads a request's body stream once. It uses its own thread, since reading waits for the app to write.
final class BodyReader: Delivery.Work {
    typealias Done = @Sendable (Result<Body, URLError>) -> Void

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

    private func end(_ result: Result<Body, URLError>) { done.withLock { $0.take() }?(result) }

    private func read(_ stream: InputStream) throws(URLError) -> Body {
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

extension BodyReader {
    /// A request's body, read from its stream.
    enum Body: Sendable {
        case data(Data)
        /// A body that is longer than ``RequestBody/limit``, in a file from which it can be sent.
        case long(BodyFile)

        /// The part of the body that conditions see.
        var shown: RequestBody {
            switch self {
            case .data(let data): .data(data)
            case .long: .tooLong
            }
        }

        /// Replaces a request's stream with the body that was read. Each time the request is sent, the sender opens a new stream.
        func replaceStream(of request: inout URLRequest) {
            guard request.httpBodyStream != nil else { return }
            request.httpBodyStream = nil
            switch self {
            case .data(let data): request.httpBody = data
            case .long(let file): request.httpBodyStream = InputStream(url: file.url)
            }
        }
    }
}
