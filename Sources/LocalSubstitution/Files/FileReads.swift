import Dispatch
import Guarded

/// Reads files, each once, however many threads want it at the same time.
final class FileReads: Sendable {
    typealias Outcome = Result<FileBytes, FileProblem>

    private let reads = Guarded<[String: FileRead]>([:])

    /// The bytes of the file at a path.
    ///
    /// - Parameters:
    ///   - isCurrent: Whether bytes that another thread has read still are the file's.
    ///   - read: Reads the file. Called on this thread, unless another thread is reading it.
    func file(
        at path: String,
        isCurrent: (FileBytes) -> Bool,
        read: () -> Outcome
    ) throws(FileProblem) -> FileBytes {
        let wantedAt = FileStatus.now
        while true {
            let (known, mine) = join(path)
            if let mine {
                let outcome = read()
                reads.withLock { $0[path] = nil }
                mine.end(outcome)
                return try outcome.get()
            }
            guard let known, let outcome = known.wait() else { continue }
            // A read that began before this one was asked for may be older than it.
            if known.startedAt >= wantedAt { return try outcome.get() }
            if case .success(let file) = outcome, isCurrent(file) { return file }
        }
    }

    private func join(_ path: String) -> (known: FileRead?, mine: FileRead?) {
        reads.withLock { reads in
            if let known = reads[path] { return (known, nil) }
            let mine = FileRead()
            reads[path] = mine
            return (nil, mine)
        }
    }
}

/// A file that is being read, for all threads that want it meanwhile.
private final class FileRead: Sendable {
    let startedAt = FileStatus.now
    private let hasEnded = DispatchSemaphore(value: 0)
    private let outcome = Guarded<FileReads.Outcome?>(nil)

    func end(_ result: FileReads.Outcome) {
        outcome.withLock { $0 = result }
        hasEnded.signal()
    }

    func wait() -> FileReads.Outcome? {
        hasEnded.wait()
        hasEnded.signal()
        return outcome.withLock { $0 }
    }
}
