import Guarded

/// The retained responses by URL, for hits.
///
/// The table has several parts, each with its own lock. With a single lock, two threads together make fewer hits than one thread
/// alone: see the benchmark “two threads”. ``RetentionLimits`` decides what is retained, and for how long.
final class RetainedTable: Sendable {
    private struct Part: Sendable {
        var responses: [String: RetainedResponse] = [:]
        var hits = 0
        var bytes = 0
        /// Whether there are listeners. Kept in each part so that a hit doesn't need a lock that all threads share.
        var isObserved = false
    }

    /// A part with padding, so that two parts never share a cache line.
    private final class Box: Sendable {
        let part = Guarded(Part())
        let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
    }

    private static let parts = 16
    private let boxes = (0..<parts).map { _ in Box() }

    /// Returns the response for a URL, and whether there are listeners. Counts a hit if the response has no validity to check.
    func response(for url: String) -> (response: RetainedResponse, isObserved: Bool)? {
        box(for: url).part.withLock { part in
            guard let response = part.responses[url] else { return nil }
            if response.validity == nil {
                part.hits += 1
                part.bytes += response.size
            }
            return (response, part.isObserved)
        }
    }

    func observe() {
        for box in boxes { box.part.withLock { $0.isObserved = true } }
    }

    /// Returns the response for a URL without counting a hit.
    func peek(_ url: String) -> RetainedResponse? {
        box(for: url).part.withLock { $0.responses[url] }
    }

    func insert(_ response: RetainedResponse, for url: String) {
        box(for: url).part.withLock { $0.responses[url] = response }
    }

    func remove(_ url: String) {
        box(for: url).part.withLock { _ = $0.responses.removeValue(forKey: url) }
    }

    func removeAll() {
        for box in boxes { box.part.withLock { $0.responses = [:] } }
    }

    /// The number of hits, and the total size of their bodies in bytes.
    var counts: (hits: Int, bytes: Int) {
        boxes.reduce((0, 0)) { counts, box in
            box.part.withLock { (counts.0 + $0.hits, counts.1 + $0.bytes) }
        }
    }

    /// Returns the part for a URL. It's chosen by the URL's end, where URLs differ most.
    private func box(for url: String) -> Box {
        let end = url.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.count < 8
                ? 0 : UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        }
        return boxes[Int(((end ?? 0) &* 0x9E37_79B9_7F4A_7C15) >> 60)]
    }
}
