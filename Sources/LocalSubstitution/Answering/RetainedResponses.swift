import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The retained responses and the files they're made from. A file and its responses are dropped together.
final class RetainedResponses: NewerCopies.FileHolder {
    private struct State: Sendable {
        var retention = RetentionLimits()
        /// The number of calls of `removeAll`. A response that was begun before a call isn't retained after it.
        var generation = 0
    }

    /// The table for hits, which look nowhere else. It changes only while `state` is locked.
    private let table = Table()
    private let state = Guarded(State())
    private let reads = FileBytes.Reads()
    /// Whether held files are checked for changes. If not, a file's bytes are used until its responses are dropped.
    private let checksFiles: Bool

    init(checksFiles: Bool) {
        self.checksFiles = checksFiles
    }

    // MARK: Responses

    /// Returns the response for a URL, and whether there are listeners. Counts a hit if the response has no validity to check.
    func response(for url: String) -> (response: RetainedResponse, isObserved: Bool)? { table.response(for: url) }

    /// Lets hits know from now on that there are listeners.
    func observe() { table.observe() }

    /// Returns the response for a URL without counting a hit.
    func peek(_ url: String) -> RetainedResponse? { table.peek(url) }

    /// The number of counted hits, and the total size of their bodies in bytes.
    var counts: (hits: Int, bytes: Int) { table.counts }

    /// The generation to pass to `retain` for a response that is begun now.
    var generation: Int { state.withLock { $0.generation } }

    /// Returns the response that is retained under a name, if it was made from these bytes and `removeAll` hasn't been called since
    /// the request was looked up.
    func response(_ name: String, madeOf file: FileBytes?, generation: Int) -> CachedURLResponse? {
        state.withLock { $0.generation == generation ? known(name, madeOf: file, $0) : nil }
    }

    private func known(_ name: String, madeOf file: FileBytes?, _ state: State) -> CachedURLResponse? {
        guard let record = state.retention.record(for: name), record.file === file, let known = table.peek(name),
            !known.hasExpired
        else { return nil }
        return known
    }

    /// Retains a response, unless `removeAll` has been called since it was begun.
    ///
    /// - Parameters:
    ///   - file: The bytes that the response is made from, held at `place`.
    ///   - isEndless: Whether the number of such URLs is unlimited. Only the newest responses to such URLs stay.
    /// - Returns: The response to use: this one, or an equal one that another thread retained in the meantime.
    func retain(
        _ response: RetainedResponse,
        for url: String,
        madeOf file: FileBytes?,
        at place: String?,
        isEndless: Bool,
        generation: Int
    ) -> CachedURLResponse {
        state.withLock { state in
            guard state.generation == generation else { return response }
            if let known = known(url, madeOf: file, state) { return known }
            table.insert(response, for: url)
            for gone in state.retention.insert(url, path: place, file: file, isEndless: isEndless) {
                table.remove(gone)
            }
            return response
        }
    }

    func remove(_ url: String) {
        state.withLock { state in
            state.retention.remove(url)
            table.remove(url)
        }
    }

    func removeAll() {
        state.withLock { state in
            state.generation += 1
            state.retention.removeAll()
            table.removeAll()
        }
    }

    // MARK: Files

    /// The heap memory of the held files, in bytes.
    var heapBytes: Int { state.withLock { $0.retention.heapBytes } }

    /// Reads a file. Threads that ask for it at the same time share one read.
    func file(_ name: String, in folder: ResourcesFolder) throws(FileProblem) -> FileBytes {
        let path = folder.path(of: name)
        if let held = currentFile(at: path) { return held }
        return try reads.file(
            at: path,
            isCurrent: { file in FileStatus(path: path).map(file.isCurrent) ?? false },
            read: {
                Result { () throws(FileProblem) in
                    if let held = currentFile(at: path) { return held }
                    let file = try FileBytes(opening: name, in: folder, mayMap: !checksFiles)
                    if let known = self.file(at: path), known.isSameVersion(as: file) {
                        known.confirm(by: file)
                        return known
                    }
                    hold(file, at: path)
                    return file
                }
            }
        )
    }

    func currentFile(at path: String) -> FileBytes? {
        guard let held = file(at: path) else { return nil }
        return !checksFiles || FileStatus(path: path).map(held.isCurrent) == true ? held : nil
    }

    func file(at place: String) -> FileBytes? { state.withLock { $0.retention.file(at: place) } }

    /// Holds a file's bytes, and drops the responses made from its old bytes.
    func hold(_ file: FileBytes, at place: String) {
        state.withLock { state in
            for url in state.retention.hold(file, at: place) { table.remove(url) }
        }
    }

    /// Releases a file's bytes, and drops the responses made from them.
    func release(_ place: String) {
        state.withLock { state in
            for url in state.retention.drop(place) { table.remove(url) }
        }
    }
}

extension RetainedResponses {
    /// The retained responses by URL, for hits.
    ///
    /// The table has several parts, each with its own lock. With a single lock, two threads together make fewer hits than one thread
    /// alone: see the benchmark “two threads”. ``RetentionLimits`` decides what is retained, and for how long.
    private final class Table: Sendable {
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
}
