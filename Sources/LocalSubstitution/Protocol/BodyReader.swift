import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A reader of one request's body stream. It has its own thread, since reading waits until the app writes.
final class BodyReader: Sendable {
    /// Whether the caller has stopped waiting for the body.
    private let isDone = Guarded(false)

    private init() {}

    /// Reads a stream to its end. If the request is cancelled or times out, the reader's thread still waits until the
    /// app writes to the stream or closes it.
    ///
    /// - Parameter timeout: The request's. When it ends, this fails with `timedOut`.
    static func read(_ stream: InputStream, _ timeout: RequestTimeout) async throws(URLError) -> Body {
        let reader = BodyReader()
        // Nothing else uses the stream.
        nonisolated(unsafe) let stream = stream
        let result: Result<Body, URLError>? = try await timeout.value { set in
            Thread.detachNewThread {
                stream.open()
                let result = Result { () throws(URLError) in try reader.read(stream) }
                stream.close()
                set(result)
            }
            return { reader.isDone.withLock { $0 = true } }
        }
        guard let result else { throw URLError(.timedOut) }
        return try result.get()
    }

    private func read(_ stream: InputStream) throws(URLError) -> Body {
        var data = Data()
        while let piece = try piece(of: stream) {
            data.append(piece)
            guard data.count > RequestFacts.Body.limit else { continue }
            let file = try BodyFile()
            try file.write(data, at: 0)
            var count = data.count
            while let piece = try self.piece(of: stream) {
                try file.write(piece, at: count)
                count += piece.count
            }
            return .long(file)
        }
        return .data(data)
    }

    /// Returns the next bytes; `nil` at the end of the stream.
    private func piece(of stream: InputStream) throws(URLError) -> Data? {
        guard !isDone.withLock({ $0 }) else { throw URLError(.cancelled) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count >= 0 else {
            let reason = stream.streamError?.localizedDescription ?? "its stream failed"
            throw .explained(
                .requestBodyStreamExhausted,
                "The request's body can't be read: \(reason.sentence) Correct its stream, or set httpBody.",
                nil
            )
        }
        return count == 0 ? nil : Data(buffer[..<count])
    }
}

extension BodyReader {
    /// A request's body, read from its stream.
    enum Body: Sendable {
        case data(Data)
        /// A body that is longer than ``RequestFacts/Body/limit``, in a file from which it can be sent.
        case long(BodyFile)

        /// The body as the map's conditions see it; ``RequestFacts/Body/tooLong`` for a long body.
        var shown: RequestFacts.Body {
            switch self {
            case .data(let data): .data(data)
            case .long: .tooLong
            }
        }

        /// Replaces a request's stream with the body that was read. Call this whenever the request is about to be sent,
        /// since a stream can be read only once.
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
