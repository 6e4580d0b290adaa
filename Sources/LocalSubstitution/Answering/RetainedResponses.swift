import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses that are retained and the files that they are made of, which stay and go together.
final class RetainedResponses: FileHolder {
    typealias Item = RetainedTable.Item

    private struct State: Sendable {
        var retention = Retention()
        /// Counts how often everything was dropped, so that no response that was begun before is retained after.
        var generation = 0
    }

    /// Hits look here, and nowhere else. It changes only while `state` is locked.
    private let table = RetainedTable()
    private let state = Guarded(State())
    private let reads = FileReads()
    /// Whether a file may change while it is held. Otherwise it is what it was when it was read, until its responses go.
    private let checksFiles: Bool

    init(checksFiles: Bool) {
        self.checksFiles = checksFiles
    }

    // MARK: Responses

    /// The response for a URL, and whether anyone listens; counted as a hit if there is nothing more to look at.
    func item(for url: String) -> (item: Item, isObserved: Bool)? { table.item(for: url) }

    /// Has hits say from now on that someone listens.
    func observe() { table.observe() }

    /// The response for a URL, without counting it.
    func peek(_ url: String) -> Item? { table.peek(url) }

    /// How many hits were counted, and the bytes of their bodies.
    var counts: (hits: Int, bytes: Int) { table.counts }

    /// The generation to name when a response that is begun now is retained.
    var generation: Int { state.withLock { $0.generation } }

    /// Retains a response, unless everything was dropped since it was begun.
    ///
    /// - Parameters:
    ///   - file: The bytes it is made of, held at `place`.
    ///   - isEndless: Whether there is no end of such URLs, so that only the newest of their responses stay.
    /// - Returns: The response to use: this one, or an equal one that another thread has retained meanwhile.
    func retain(
        _ item: Item,
        for url: String,
        madeOf file: FileBytes?,
        at place: String?,
        isEndless: Bool,
        generation: Int
    ) -> CachedURLResponse {
        state.withLock { state in
            guard state.generation == generation else { return item.response }
            if state.retention.record(for: url)?.file === file, let known = table.peek(url), !known.hasExpired {
                return known.response
            }
            table.insert(item, for: url)
            for gone in state.retention.insert(url, path: place, file: file, isEndless: isEndless) {
                table.remove(gone)
            }
            return item.response
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

    /// What the held files take of the process's own memory.
    var heapBytes: Int { state.withLock { $0.retention.heapBytes } }

    /// Reads a file once for all threads that ask for it.
    func file(_ name: String, in folder: ResourcesFolder) throws(FileProblem) -> FileBytes {
        let path = folder.path(of: name)
        if let held = currentFile(at: path) { return held }
        return try reads.file(
            at: path,
            isCurrent: { file in FileStatus(path: path).map(file.isCurrent) ?? false },
            read: {
                Result { () throws(FileProblem) in
                    if let held = currentFile(at: path) { return held }
                    let file = try FileBytes(opening: name, in: folder)
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

    /// Responses made of the former bytes go.
    func hold(_ file: FileBytes, at place: String) {
        state.withLock { state in
            for url in state.retention.hold(file, at: place) { table.remove(url) }
        }
    }

    /// Responses made of it go too.
    func release(_ place: String) {
        state.withLock { state in
            for url in state.retention.drop(place) { table.remove(url) }
        }
    }
}
