import Dispatch
import Guarded

/// A reader of files that reads each of them once, even if several threads want it at the same time.
final class FileReads: Sendable {
    typealias Outcome = Result<FileBytes, FileProblem>

    private let reads = Guarded<[String: FileRead]>([:])

    /// Returns the bytes of the file at a path.
    ///
    /// - Parameters:
    ///   - isCurrent: Returns whether bytes that another thread has read are still those of the file.
    ///   - read: Reads the file. It's called on this thread, unless another thread is already reading the file.
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
            // A read that began before this call may have older bytes.
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

/// A file that is being read, shared by all threads that want it.
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
