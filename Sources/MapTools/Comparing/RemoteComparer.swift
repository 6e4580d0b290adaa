import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads the URLs of all exact entries, a few at a time, and compares them with the entries' files.
struct RemoteComparer: Sendable {
    private struct Job: Sendable {
        let entry: Entry
        let file: ComparedFile
    }

    /// Jobs that share a file are next to each other, so that few files are in memory at a time.
    private let jobs: [Job]
    private let folder: ResourcesFolder
    /// The longest body to load, in bytes. Bodies are kept in memory.
    private let limit: Int
    private let updating: Bool
    private let loader = UncachedLoader()

    private static let mostAtATime = 6

    init(_ entries: [Entry], in folder: ResourcesFolder, limit: Int, updating: Bool) {
        self.folder = folder
        self.limit = limit
        self.updating = updating
        var groups: [String: [Entry]] = [:]
        for entry in entries where !entry.isPattern {
            guard let answering = entry.answeringEveryGet, let name = answering.file?.text else { continue }
            groups[folder.realName(of: name) ?? name, default: []].append(answering)
        }
        jobs = groups.values.sorted { ($0[0].line, $0[0].key) < ($1[0].line, $1[0].key) }.flatMap { entries in
            let file = ComparedFile(entries[0].file?.text ?? "", in: folder, entries: entries.count)
            return entries.map { Job(entry: $0, file: file) }
        }
    }

    func run(_ progress: (_ count: Int, _ total: Int) -> Void) async -> [RemoteComparison] {
        if updating { removeLeftovers() }
        progress(0, jobs.count)
        var done = await withTaskGroup(of: RemoteComparison.self) { group in
            var waiting = jobs[...]
            var done: [RemoteComparison] = []
            func start() {
                guard let job = waiting.popFirst() else { return }
                group.addTask { await compare(job) }
            }
            for _ in 0..<Self.mostAtATime { start() }
            for await comparison in group {
                start()
                done.append(comparison)
                progress(done.count, jobs.count)
            }
            return done
        }
        loader.end()
        let schedule = schedule
        for index in done.indices {
            if case .changed = done[index].result { done[index].update = schedule[done[index].key] }
        }
        return done.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    }

    /// Removes the files that killed commands left in the folder.
    private func removeLeftovers() {
        guard let turn = try? FolderTurn(URL(fileURLWithPath: folder.path, isDirectory: true)) else { return }
        defer { withExtendedLifetime(turn) {} }
        let written = WrittenFolder(path: folder.path, holdsTurn: true)
        for name in folder.names(limit: .max) where WrittenFolder.isLeftover(name) { written.remove(name) }
    }

    /// What happened to the files that have changed, by their entries' keys.
    private var schedule: [String: RemoteComparison.Update] {
        var schedule: [String: RemoteComparison.Update] = [:]
        for job in jobs { schedule[job.entry.key] = job.file.update }
        return schedule
    }

    private func compare(_ job: Job) async -> RemoteComparison {
        let text = (try? NormalizedURL(key: job.entry.key).text) ?? job.entry.key
        var comparison = RemoteComparison(
            key: job.entry.key,
            line: Int(job.entry.line),
            url: text,
            fileName: job.entry.file?.text ?? "",
            result: .same
        )
        let body: Data?
        do throws(FileProblem) {
            let bytes = try job.file.bytes()
            comparison.fileBytes = bytes.data.count
            (comparison.result, body) = await compare(bytes.data, with: text, status: job.entry.options.status)
        } catch {
            comparison.result = .unreadable(reason: "The file “\(comparison.fileName)” \(error.message)")
            body = nil
        }
        job.file.note(body, of: job.entry, updating: updating)
        return comparison
    }

    /// Returns the result, and the body that the URL serves if it's known.
    private func compare(_ file: Data, with url: String, status: Int) async -> (RemoteComparison.Result, Data?) {
        guard let url = URL(string: url) else {
            return (.unreachable(reason: "Foundation doesn't accept the URL."), nil)
        }
        switch await load(url) {
        case .failed(let reason):
            return (.unreachable(reason: "The URL can't be loaded: \(reason.sentence)"), nil)
        case .tooLong:
            return (.tooLong, nil)
        case .answer(let response, let data) where [200, status].contains(response.statusCode):
            guard data != file else { return (.same, data) }
            return (.changed(bytes: data.count, offset: Self.firstDifference(file, data)), data)
        case .answer(let response, _) where [404, 410].contains(response.statusCode):
            return (.gone(status: response.statusCode), nil)
        case .answer(let response, _):
            return (.unreachable(reason: "The server answered with status \(response.statusCode)."), nil)
        }
    }

    private func load(_ url: URL) async -> UncachedLoader.Outcome {
        let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        return await withCheckedContinuation { continuation in
            loader.load(request, limit: limit) { continuation.resume(returning: $0) }
        }
    }

    /// Returns the offset of the first byte that differs. If one body begins with the whole other one, that's the length of the
    /// shorter.
    static func firstDifference(_ first: Data, _ second: Data) -> Int {
        let block = 64 << 10
        let common = min(first.count, second.count)
        var offset = 0
        // Compares whole blocks first, which is fast.
        while offset < common, first.dropFirst(offset).prefix(block) == second.dropFirst(offset).prefix(block) {
            offset += min(block, common - offset)
        }
        let rest = zip(first.dropFirst(offset).prefix(block), second.dropFirst(offset).prefix(block))
        return offset + rest.prefix { $0 == $1 }.count
    }
}
