import Dispatch
import Guarded

/// A file that is being read, for all who want it meanwhile.
final class FileRead: Sendable {
    let startedAt = FileStatus.now
    private let isDone = DispatchSemaphore(value: 0)
    private let outcome = Guarded<Result<FileBytes, FileProblem>?>(nil)

    func finish(_ result: Result<FileBytes, FileProblem>) {
        outcome.withLock { $0 = result }
        isDone.signal()
    }

    func wait() -> Result<FileBytes, FileProblem>? {
        isDone.wait()
        isDone.signal()
        return outcome.withLock { $0 }
    }
}

/// Reading files, each once, however many ask for it at the same time.
extension LocalSubstitutionCache {
    /// The bytes of a file: those that are held, if they are still the file's.
    func read(_ name: String, in folder: ResourcesFolder) throws(FileProblem) -> FileBytes {
        let path = folder.path(of: name)
        let wantedAt = FileStatus.now
        while true {
            let known = state.withLock { $0.retention.file(at: path) }
            if let known, let status = FileStatus(path: path), known.isCurrent(status) { return known }
            let (read, isMine) = join(path)
            guard isMine else {
                // What somebody began to read before this was asked for may be older than it.
                if let result = read.wait(), read.startedAt >= wantedAt || isCurrent(result, path) {
                    return try result.get()
                }
                continue
            }
            let result = readAlone(name, in: folder, known: known)
            state.withLock { _ = $0.reads.removeValue(forKey: path) }
            read.finish(result)
            return try result.get()
        }
    }

    private func join(_ path: String) -> (FileRead, isMine: Bool) {
        state.withLock { state in
            if let read = state.reads[path] { return (read, false) }
            let read = FileRead()
            state.reads[path] = read
            return (read, true)
        }
    }

    private func isCurrent(_ result: Result<FileBytes, FileProblem>, _ path: String) -> Bool {
        guard case .success(let file) = result, let status = FileStatus(path: path) else { return false }
        return file.isCurrent(status)
    }

    private func readAlone(
        _ name: String,
        in folder: ResourcesFolder,
        known: FileBytes?
    ) -> Result<FileBytes, FileProblem> {
        Result { () throws(FileProblem) in
            let file = try FileBytes(opening: name, in: folder)
            guard let known, known.isSameVersion(as: file) else { return file }
            known.confirm(by: file)
            return known
        }
    }
}
