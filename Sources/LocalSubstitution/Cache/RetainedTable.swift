import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The retained responses by URL, as hits find them.
///
/// It is in several parts, each with a lock of its own, since under one lock two threads get fewer hits than one does: see
/// the benchmark “two threads”. What is retained, and for how long, is not decided here but in ``Retention``.
final class RetainedTable: Sendable {
    struct Item: Sendable {
        let response: CachedURLResponse
        let size: Int
        let watch: Watch?

        var hasExpired: Bool { watch?.hasExpired ?? false }
    }

    private struct Part: Sendable {
        var items: [String: Item] = [:]
        var hits = 0
        var bytes = 0
    }

    /// Padded, so that two parts never share a line of the processor's cache.
    private final class Box: Sendable {
        let part = Guarded(Part())
        let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
    }

    private static let parts = 16
    private let boxes = (0..<parts).map { _ in Box() }

    /// The item for a URL; counted as a hit if there is nothing more to look at.
    func item(for url: String) -> Item? {
        box(for: url).part.withLock { part in
            guard let item = part.items[url] else { return nil }
            if item.watch == nil {
                part.hits += 1
                part.bytes += item.size
            }
            return item
        }
    }

    /// The item for a URL, not counted.
    func peek(_ url: String) -> Item? {
        box(for: url).part.withLock { $0.items[url] }
    }

    func insert(_ item: Item, for url: String) {
        box(for: url).part.withLock { $0.items[url] = item }
    }

    func remove(_ url: String) {
        box(for: url).part.withLock { _ = $0.items.removeValue(forKey: url) }
    }

    func removeAll() {
        for box in boxes { box.part.withLock { $0.items = [:] } }
    }

    /// How many hits there were, and the bytes of their bodies.
    var counts: (hits: Int, bytes: Int) {
        boxes.reduce((0, 0)) { counts, box in
            box.part.withLock { (counts.0 + $0.hits, counts.1 + $0.bytes) }
        }
    }

    /// By the end of the URL, which differs most.
    private func box(for url: String) -> Box {
        let end = url.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.count < 8
                ? 0 : UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        }
        return boxes[Int(((end ?? 0) &* 0x9E37_79B9_7F4A_7C15) >> 60)]
    }
}
