package import Dispatch
package import Foundation

/// A body on its way to a client, at its rate or as it arrives. It says which bytes are next and when they're due. The
/// sender waits.
package struct ThrottledBody {
    private let body: Response.Body
    private let rate: Rate?
    private let longest: Int
    private var sent = 0
    /// When the previous piece was due; at first, when the sender began.
    private var last = DispatchTime.now()

    /// - Parameters:
    ///   - rate: How fast to send the body; `nil` to send each piece at once.
    ///   - longest: The longest piece of a file, in bytes.
    package init(_ body: Response.Body, at rate: Rate?, longestPiece longest: Int = .max) {
        (self.body, self.rate, self.longest) = (body, rate, longest)
    }

    /// Returns the next bytes; `nil` at the end of the body. Call this once the previous bytes are sent.
    ///
    /// - Returns: The bytes, when they're due, and the time from which that was counted. If the rate is even, that's when the
    ///   previous bytes were due, so that a late piece doesn't delay the later ones. Otherwise, it's now.
    package mutating func next() throws(URLError) -> (bytes: Data, since: DispatchTime, due: DispatchTime)? {
        let since = rate?.isEven == true ? last : .now()
        guard let (bytes, delay) = try piece() else { return nil }
        sent += bytes.count
        last = since + delay
        return (bytes, since, last)
    }

    private func piece() throws(URLError) -> (Data, delay: Double)? {
        switch body {
        case .data(let data):
            guard sent < data.count else { return nil }
            return rate?.piece(of: data, from: sent) ?? (data, 0)
        case .file(let file, let range):
            let start = range.lowerBound + sent
            let end = start + min(rate?.pieceSize ?? .max, longest, range.upperBound - start)
            guard start < end else { return nil }
            var delay = 0.0
            if case .bytesPerSecond(let rate)? = rate { delay = Double(end - start) / Double(rate) }
            do throws(Complaint) {
                return (try file.bytes(start..<end), delay)
            } catch {
                throw .unreadable(error, nil)
            }
        case .arriving(let next):
            return try next().get().map { ($0, 0) }
        }
    }
}

extension Response.Body {
    /// Returns all bytes, which may have yet to arrive; `nil` if a large file or an arriving body has more bytes than the
    /// limit. The limit doesn't apply to data in memory.
    package func whole(upTo limit: Int) throws(URLError) -> Data? {
        if case .data(let data) = self { return data }
        guard length ?? 0 <= limit else { return nil }
        var body = ThrottledBody(self, at: nil)
        var bytes = Data()
        while let piece = try body.next()?.bytes {
            bytes += piece
            guard bytes.count <= limit else { return nil }
        }
        return bytes
    }
}
