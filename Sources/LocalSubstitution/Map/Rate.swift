package import Foundation

/// How fast a body is sent: the map's fields `bytesPerSecond`, `secondsPerLine` and `secondsPerEvent`.
package enum Rate: Sendable, Hashable {
    case bytesPerSecond(Int)
    case secondsPerLine(Double)
    case secondsPerEvent(Double)

    /// The rate in words, for explanations.
    var text: String {
        switch self {
        case .bytesPerSecond(let rate): "at \(rate.grouped) bytes per second"
        case .secondsPerLine(let seconds): "line by line, \(seconds.grouped) s apart"
        case .secondsPerEvent(let seconds): "event by event, \(seconds.grouped) s apart"
        }
    }

    /// Whether pieces are due at fixed times, so that a late piece doesn't delay the next one. If `false`, each delay
    /// begins when the previous piece is sent.
    package var isEven: Bool { if case .bytesPerSecond = self { true } else { false } }

    /// In bytes: as many as the rate sends in 50 ms, but at least one. `nil` if the body is sent by lines or events.
    package var pieceSize: Int? { if case .bytesPerSecond(let rate) = self { max(1, rate / 20) } else { nil } }

    /// The delay is in seconds, after the previous piece.
    ///
    /// - Parameter start: The offset at which the piece begins.
    package func piece(of body: Data, from start: Int) -> (Data, delay: Double) {
        let (end, delay) = end(ofPieceOf: body, from: start)
        return (body.subdata(in: body.startIndex + start..<body.startIndex + end), delay)
    }

    private func end(ofPieceOf body: Data, from start: Int) -> (Int, delay: Double) {
        switch self {
        case .bytesPerSecond(let rate):
            let end = min(start + (pieceSize ?? 1), body.count)
            return (end, Double(end - start) / Double(rate))
        case .secondsPerLine(let seconds), .secondsPerEvent(let seconds):
            // Without a delay between them, all lines or events are one piece.
            guard seconds > 0 else { return (body.count, 0) }
            let isByLine = if case .secondsPerLine = self { true } else { false }
            let end = body.withUnsafeBytes {
                isByLine ? Self.endOfLine(in: $0, from: start) : Self.endOfEvent(in: $0, from: start)
            }
            return (end, start == 0 ? 0 : seconds)
        }
    }

    /// The offset after the next LF, CRLF or CR; the end of the body if there's none.
    private static func endOfLine(in body: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let end = body[start...].firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        else { return body.count }
        let isPair = body[end] == UInt8(ascii: "\r") && end + 1 < body.count && body[end + 1] == UInt8(ascii: "\n")
        return end + (isPair ? 2 : 1)
    }

    /// The offset after the blank lines that end an event; the end of the body if there are none.
    private static func endOfEvent(in body: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = start
        var (hasText, hasBlank) = (false, false)
        while end < body.count {
            let isBlank = body[end] == UInt8(ascii: "\n") || body[end] == UInt8(ascii: "\r")
            if hasBlank, !isBlank { break }
            if isBlank { hasBlank = hasText } else { hasText = true }
            end = endOfLine(in: body, from: end)
        }
        return end
    }
}
