import Foundation
import Guarded
package import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the URL of an exact entry serves now, compared with the entry's file.
package struct RemoteComparison: Sendable, Encodable {
    /// The result in one word, including what was done about it.
    package enum Result: String, Sendable, Encodable, CaseIterable {
        case same
        case changed
        /// The file had other bytes. Now it has those that the URL serves.
        case updated
        /// The server answers 404 or 410.
        case gone
        /// There's no response, or it doesn't tell what the URL serves, such as 401 or 503.
        case unreachable
        /// The file can't be read, or the URL's body is longer than the limit.
        case unreadable = "error"
    }

    package let key: String
    /// The entry's line in the map.
    package let line: Int
    package let url: String
    /// The file's name, as the entry has it.
    package let file: String
    package internal(set) var result = Result.same
    /// How many bytes the file had; `nil` if it couldn't be read.
    package internal(set) var bytes: Int?
    /// How many bytes the URL serves; `nil` if that isn't known.
    package internal(set) var remoteBytes: Int?
    /// The offset from which on the bytes differ; `nil` if they don't, or if that isn't known.
    package internal(set) var firstDifference: Int?
    /// The status of a server that no longer has the file.
    package internal(set) var status: Int?
    /// Why there is no result, or why a file that has changed wasn't replaced.
    package internal(set) var reason: String?

    mutating func end(_ result: Result, _ reason: String) { (self.result, self.reason) = (result, reason) }
}

extension SubstitutionMap {
    /// Compares the files of all exact entries with what their URLs serve now, six at a time, without cache or cookies.
    ///
    /// Leaves out entries that a `GET` of one URL can't check: patterns, and entries that are `null`, disabled, without a file, for
    /// other methods only, or with a condition. If an entry has alternatives, the first one for `GET` is compared. A response
    /// counts if its status is 200 or the entry's own. Redirects are followed.
    ///
    /// - Parameters:
    ///   - limit: The longest body to load from one URL, in bytes.
    ///   - refusal: What to say about a longer body.
    ///   - updating: Whether to replace files that have changed, each whole or not at all. A file that several entries name is left
    ///     alone unless all of their URLs serve the same bytes.
    ///   - progress: Called with the number of entries compared so far and the total.
    /// - Returns: The comparisons, in the order of the map.
    package func comparedWithRemote(
        limit: Int,
        refusal: String,
        updating: Bool,
        progress: (_ count: Int, _ total: Int) -> Void
    ) async -> [RemoteComparison] {
        guard let resources else { return [] }
        let comparer = RemoteComparer(entries, in: resources, limit: limit, refusal: refusal, updating: updating)
        return await comparer.run(progress)
    }
}

/// Loads the URLs of all exact entries, a few at a time, and compares them with the entries' files.
private struct RemoteComparer: Sendable {
    private struct Job: Sendable {
        let entry: Entry
        let file: ComparedFile
    }

    /// Jobs that share a file are next to each other, so that few files are in memory at a time.
    private let jobs: [Job]
    private let folder: ResourcesFolder
    /// The longest body to load, in bytes. Bodies are kept in memory.
    private let limit: Int
    private let refusal: String
    private let updating: Bool
    private let loader = UncachedLoader()

    private static let mostAtATime = 6

    init(_ entries: [Entry], in folder: ResourcesFolder, limit: Int, refusal: String, updating: Bool) {
        (self.folder, self.limit, self.refusal, self.updating) = (folder, limit, refusal, updating)
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
        let files = Dictionary(jobs.map { ($0.entry.key, $0.file) }) { $1 }
        for index in done.indices {
            guard done[index].result == .changed, let update = files[done[index].key]?.update else { continue }
            switch update {
            case .replaced: done[index].result = .updated
            case .left(let reason): done[index].reason = reason
            }
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

    private func compare(_ job: Job) async -> RemoteComparison {
        let text = (try? NormalizedURL(key: job.entry.key).text) ?? job.entry.key
        var comparison = RemoteComparison(
            key: job.entry.key,
            line: Int(job.entry.line),
            url: text,
            file: job.entry.file?.text ?? ""
        )
        var body: Data?
        do throws(FileProblem) {
            let bytes = try job.file.bytes()
            comparison.bytes = bytes.data.count
            body = await compare(bytes.data, status: job.entry.options.status, &comparison)
        } catch {
            comparison.end(.unreadable, "The file “\(comparison.file)” \(error.message)")
        }
        job.file.note(body, of: job.entry, updating: updating)
        return comparison
    }

    /// Compares a file with what its URL serves. Returns the body that the URL serves if it's known.
    private func compare(_ file: Data, status: Int, _ comparison: inout RemoteComparison) async -> Data? {
        guard let url = URL(string: comparison.url) else {
            comparison.end(.unreachable, "Foundation doesn't accept the URL.")
            return nil
        }
        switch await load(url) {
        case .failed(let reason):
            comparison.end(.unreachable, "The URL can't be loaded: \(reason.sentence)")
        case .tooLong:
            comparison.end(.unreadable, refusal)
        case .answer(let response, let data) where [200, status].contains(response.statusCode):
            comparison.remoteBytes = data.count
            if data != file {
                comparison.result = .changed
                comparison.firstDifference = Self.firstDifference(file, data)
            }
            return data
        case .answer(let response, _) where [404, 410].contains(response.statusCode):
            (comparison.result, comparison.status) = (.gone, response.statusCode)
        case .answer(let response, _):
            comparison.end(.unreachable, "The server answered with status \(response.statusCode).")
        }
        return nil
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

/// A file that one or more entries name. It's compared with each entry's URL, then replaced if that's wanted.
private final class ComparedFile: Sendable {
    enum Update {
        /// The file now has the bytes that the URL serves.
        case replaced
        /// The file is unchanged. The reason is readable.
        case left(reason: String)
    }

    private struct State: Sendable {
        var bytes: FileBytes?
        /// How many entries haven't been compared yet.
        var entriesLeft: Int
        /// The body that the URLs have served so far, if they all served the same.
        var body: Data?
        /// Why the file can't be replaced.
        var obstacle: String?
        var update: Update?
    }

    private let name: String
    private let folder: ResourcesFolder
    private let state: Guarded<State>

    init(_ name: String, in folder: ResourcesFolder, entries: Int) {
        self.name = name
        self.folder = folder
        state = Guarded(State(entriesLeft: entries))
    }

    /// What happened to the file after its last entry was compared; `nil` if there was no reason to replace it.
    var update: Update? { state.withLock { $0.update } }

    /// Returns the file's bytes, the same for all entries.
    func bytes() throws(FileProblem) -> FileBytes {
        if let known = state.withLock({ $0.bytes }) { return known }
        let bytes = try FileBytes(opening: name, in: folder)
        return state.withLock { state in
            // Another entry's comparison may have read the file meanwhile. All must use the same bytes.
            let first = state.bytes ?? bytes
            state.bytes = first
            return first
        }
    }

    /// Notes the body that an entry's URL serves; `nil` if it isn't known. After the last entry, replaces the file if that's wanted
    /// and possible.
    func note(_ body: Data?, of entry: Entry, updating: Bool) {
        let last = state.withLock { state -> State? in
            state.entriesLeft -= 1
            if updating { Self.note(body, of: entry, in: &state) }
            guard state.entriesLeft == 0 else { return nil }
            defer { (state.bytes, state.body) = (nil, nil) }
            return state
        }
        guard updating, let last, let bytes = last.bytes else { return }
        let update = replace(bytes, last, entry)
        state.withLock { $0.update = update }
    }

    private static func note(_ body: Data?, of entry: Entry, in state: inout State) {
        guard let body else {
            state.obstacle = state.obstacle ?? "It's unknown what the URL of its other entry “\(entry.key)” serves."
            return
        }
        if let other = state.body, other != body {
            state.obstacle = "The URLs of its entries serve different bytes."
        }
        state.body = state.body ?? body
    }

    private func replace(_ old: FileBytes, _ last: State, _ entry: Entry) -> Update? {
        if let obstacle = last.obstacle { return .left(reason: obstacle) }
        guard let body = last.body, body != old.data else { return nil }
        if let contradiction = contradiction(body, old.data, entry) { return .left(reason: contradiction) }
        let turn: FolderTurn
        do throws(FolderTurn.Failure) {
            turn = try FolderTurn(URL(fileURLWithPath: folder.path, isDirectory: true))
        } catch {
            return .left(reason: error.description)
        }
        defer { withExtendedLifetime(turn) {} }
        // The real path, so that a symbolic link to another file in the folder stays a link.
        guard let place = folder.realName(of: name), FileStatus(path: folder.path(of: name)) == old.status else {
            return .left(reason: "The file changed in the meantime. Run the command again.")
        }
        do throws(WrittenFolder.Problem) {
            try WrittenFolder(path: folder.path, holdsTurn: true).write(body, to: place)
            return .replaced
        } catch {
            return .left(reason: error.message)
        }
    }

    /// Returns why a new body can't belong to the entry; `nil` if it can. A server that has lost a picture may send a page
    /// that says so, with status 200.
    private func contradiction(_ body: Data, _ old: Data, _ entry: Entry) -> String? {
        let type = Substitution(entry, fileName: name, folder: folder, url: try? NormalizedURL(entry.key)).mimeType
        let length = MIMEType.sniffedLength
        guard MIMEType.contradicts(old.prefix(length), type: type) == nil else { return nil }
        return MIMEType.contradicts(body.prefix(length), type: type).map {
            "The file is served as \(type), but the first bytes that the URL serves say otherwise: \($0)."
        }
    }
}
