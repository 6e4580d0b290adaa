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
            if let held = heldFile(at: path) { return held }
            let (read, isMine, known) = join(path)
            guard isMine else {
                // What somebody began to read before this was asked for may be older than it.
                if let result = read.wait(), read.startedAt >= wantedAt || isCurrent(result, path) {
                    return try result.get()
                }
                continue
            }
            let result = readAlone(name, in: folder, known: known)
            finish(read, of: path, result)
            return try result.get()
        }
    }

    /// The bytes that are held of a file, as far as they still are the file's.
    func heldFile(at path: String) -> FileBytes? {
        guard let held = state.withLock({ $0.retention.file(at: path) }) else { return nil }
        // Without live reload a file is what it was when it was read, until its responses are removed.
        guard liveReload != nil else { return held }
        return FileStatus(path: path).map(held.isCurrent) == true ? held : nil
    }

    /// Joins whoever reads a file, or begins to read it.
    private func join(_ path: String) -> (FileRead, isMine: Bool, known: FileBytes?) {
        state.withLock { state in
            if let read = state.reads[path] { return (read, false, nil) }
            let read = FileRead()
            state.reads[path] = read
            return (read, true, state.retention.file(at: path))
        }
    }

    /// Holds what was read before anybody can begin to read it again.
    private func finish(_ read: FileRead, of path: String, _ result: Result<FileBytes, FileProblem>) {
        state.withLock { state in
            state.reads[path] = nil
            guard case .success(let file) = result else { return }
            for url in state.retention.hold(file, at: path) { retained.remove(url) }
        }
        read.finish(result)
    }

    private func isCurrent(_ result: Result<FileBytes, FileProblem>, _ path: String) -> Bool {
        guard case .success(let file) = result, let status = FileStatus(path: path) else { return false }
        return file.isCurrent(status)
    }

    /// Reads a file; gives the bytes that were known, where they still are the file's.
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
