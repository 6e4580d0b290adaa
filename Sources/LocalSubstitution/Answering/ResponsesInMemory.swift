import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses in memory, and the files that they're made from. Dropping a file's bytes also drops the responses made
/// from them.
///
/// Any number of URLs can match a pattern or an `ignoreQuery` entry, or be another spelling of a key. Of the responses
/// to these “endless” URLs, only the newest stay, 1,024 by default. All responses made from a file share its bytes. The
/// total size of the files' bytes is limited, to 256 MiB by default, not counting mapped files.
final class ResponsesInMemory: Sendable {
    private struct HeldFile: Sendable {
        let bytes: FileBytes
        let ordinal: Int
        /// The names of the responses made from the file.
        var names: Set<String> = []
    }

    private struct State: Sendable {
        /// The number of calls of `removeAll` and `dropDueResponses` so far. A response from a lookup that began before
        /// the last call isn't held.
        var generation = 0
        /// The number of files and endless responses held so far. Each gets the next number as its ordinal.
        var ordinals = 0
        /// By path.
        var files: [ExactText: HeldFile] = [:]
        /// The heap memory of the held files, in bytes.
        var heapBytes = 0
        var fileOrder = NamesByAge()
        /// The ordinals of the responses to endless URLs, by name.
        var endless: [String: Int] = [:]
        var endlessOrder = NamesByAge()
    }

    /// A part of the table of responses.
    private final class Part: Sendable {
        struct Contents: Sendable {
            var responses: [String: Response] = [:]
            var hits = 0
            var bytes = 0
            /// Whether there are listeners. Each part says so, so that a hit doesn't need a lock that all threads
            /// share.
            var isObserved = false
        }

        let contents = Guarded(Contents())
    }

    /// The table of responses. A hit uses nothing else. Responses are added and removed only while `state` is locked.
    ///
    /// The table has several parts, each with its own lock. With a single lock, two threads together make fewer hits
    /// than one thread alone: see the benchmark “two threads”.
    private let parts = (0..<16).map { _ in Part() }
    private let state = Guarded(State())
    /// The files that are being read, by path, each with its lock and the number of threads that read it or wait for that.
    /// A slow read holds up no other file.
    private let reads = Guarded<[ExactText: (lock: NSLock, threads: Int)]>([:])
    /// Whether held files are checked for changes. If not, a file's bytes are used until they're released.
    private let checksFiles: Bool
    private let endlessLimit: Int
    private let heapLimit: Int

    init(checksFiles: Bool, endlessLimit: Int = 1_024, heapLimit: Int = 256 << 20) {
        self.checksFiles = checksFiles
        self.endlessLimit = endlessLimit
        self.heapLimit = heapLimit
    }

    // MARK: Hits

    /// Returns the response for a URL, and whether this call has already counted the hit; `nil` if there's no response
    /// in memory. If the hit isn't counted, because the response must be checked first or there are listeners, the
    /// caller counts it.
    func response(for url: String) -> (response: Response, isCounted: Bool)? {
        part(for: url).contents.withLock { part in
            guard let response = part.responses[url] else { return nil }
            guard response.isAlwaysCurrent, !part.isObserved else { return (response, false) }
            part.hits += 1
            part.bytes += response.size
            return (response, true)
        }
    }

    /// Doesn't count a hit.
    func peek(_ url: String) -> Response? { part(for: url).contents.withLock { $0.responses[url] } }

    /// Notes that there are listeners from now on, so that ``response(for:)`` leaves hits to ``Observers``.
    func observe() {
        for part in parts { part.contents.withLock { $0.isObserved = true } }
    }

    /// The number of counted hits, and the total size of their bodies in bytes.
    var counts: (hits: Int, bytes: Int) {
        parts.reduce((0, 0)) { counts, part in
            part.contents.withLock { (counts.0 + $0.hits, counts.1 + $0.bytes) }
        }
    }

    private func part(for url: String) -> Part { parts[url.hashValue & 15] }

    // MARK: Holding responses

    /// How often ``removeAll()`` and ``dropDueResponses(madeOf:)`` were called so far. Read it when a lookup begins,
    /// and pass it to `hold`: if it has changed since then, the lookup's response isn't held.
    var generation: Int { state.withLock { $0.generation } }

    /// Returns the response that is held under a name. Returns `nil` if the response was made from other bytes or has
    /// expired, or if the generation has changed since it was read.
    func response(_ name: String, madeOf file: FileBytes?, generation: Int) -> CachedURLResponse? {
        state.withLock { $0.generation == generation ? known(name, madeOf: file) : nil }
    }

    private func known(_ name: String, madeOf file: FileBytes?) -> CachedURLResponse? {
        peek(name).flatMap { $0.bytes === file && !$0.hasExpired ? $0 : nil }
    }

    /// Holds a response in memory, unless the generation has changed since its lookup began, or its file's bytes aren't
    /// held, perhaps because the file is too large.
    ///
    /// - Returns: The response to use: this one, or an equal one that another thread has added.
    func hold(_ response: Response, as name: String, generation: Int) -> CachedURLResponse {
        state.withLock { state -> CachedURLResponse in
            guard state.generation == generation else { return response }
            if let known = known(name, madeOf: response.bytes) { return known }
            remove(name, keepingFile: true, &state)
            if let path = response.path {
                guard state.files[path]?.bytes === response.bytes else { return response }
                state.files[path]?.names.insert(name)
            }
            part(for: name).contents.withLock { $0.responses[name] = response }
            guard response.isEndless else { return response }
            state.ordinals += 1
            state.endless[name] = state.ordinals
            state.endlessOrder.append(name, stamp: state.ordinals, of: state.endless.count) { state.endless[$0] == $1 }
            if state.endless.count > endlessLimit,
                let oldest = state.endlessOrder.popFirst(where: { state.endless[$0] == $1 })
            {
                remove(oldest, &state)
            }
            return response
        }
    }

    /// Drops the response with a name. Also releases the response's file if no other response in memory is made from
    /// it.
    func remove(_ name: String) { state.withLock { remove(name, &$0) } }

    private func remove(_ name: String, keepingFile: Bool = false, _ state: inout State) {
        let removed = part(for: name).contents.withLock { $0.responses.removeValue(forKey: name) }
        guard let removed else { return }
        state.endless[name] = nil
        guard let path = removed.path, state.files[path]?.names.remove(name) != nil, !keepingFile,
            state.files[path]?.names.isEmpty == true
        else { return }
        release(path, &state)
    }

    /// Drops the responses made from a file that last only until the network may have a newer file. Responses from
    /// lookups that began before won't be held. The file's bytes stay.
    func dropDueResponses(madeOf path: String) {
        state.withLock { state in
            state.generation += 1
            for name in state.files[ExactText(path)]?.names ?? [] where peek(name)?.dueAt != nil {
                remove(name, keepingFile: true, &state)
            }
        }
    }

    func removeAll() {
        state.withLock { state in
            state = State(generation: state.generation + 1)
            for part in parts { part.contents.withLock { $0.responses = [:] } }
        }
    }

    // MARK: Files

    var heapBytes: Int { state.withLock { $0.heapBytes } }

    /// The number of names in the two orders, including the names of responses and files that were already dropped.
    var noted: Int { state.withLock { $0.endlessOrder.count + $0.fileOrder.count } }

    /// Returns a file's bytes: the held bytes if they're current, and otherwise newly read bytes.
    func file(_ name: String, in folder: ResourcesFolder) throws(Complaint) -> FileBytes {
        try file(at: folder.path(of: name)) { () throws(Complaint) in
            try FileBytes(opening: name, in: folder, mayMap: !checksFiles)
        }
    }

    /// Returns a file's held bytes if they're current, and otherwise the bytes that `read` returns. Threads that ask
    /// for a file at the same time share one read.
    func file(at path: String, read: () throws(Complaint) -> FileBytes) throws(Complaint) -> FileBytes {
        if let current = currentFile(at: path) { return current }
        let wantedAt = System.now
        let turn = beginRead(of: path)
        turn.lock()
        defer {
            turn.unlock()
            endRead(of: path)
        }
        // Another thread may have read the file while this one waited for the lock. If that read began before this
        // call, its bytes may be too old.
        let held = heldFile(at: path)
        if let held, held.wasRead(since: wantedAt) { return held }
        if let current = currentFile(at: path) { return current }
        let file = try read()
        if let held, held.isSameVersion(as: file) {
            held.confirm(by: file)
            return held
        }
        hold(file, at: path)
        return file
    }

    /// Returns the lock of a file that a thread is about to read.
    private func beginRead(of path: String) -> NSLock {
        reads.withLock { reads in
            let known = reads[ExactText(path)]
            let lock = known?.lock ?? NSLock()
            reads[ExactText(path)] = (lock, (known?.threads ?? 0) + 1)
            return lock
        }
    }

    private func endRead(of path: String) {
        reads.withLock { reads in
            guard let read = reads.removeValue(forKey: ExactText(path)), read.threads > 1 else { return }
            reads[ExactText(path)] = (read.lock, read.threads - 1)
        }
    }

    /// Returns a file's held bytes; `nil` if the file isn't held, or if it may have changed.
    func currentFile(at path: String) -> FileBytes? {
        guard let held = heldFile(at: path) else { return nil }
        return !checksFiles || FileStatus(path: path).map(held.isCurrent) == true ? held : nil
    }

    /// Returns the bytes even if the file may have changed.
    func heldFile(at path: String) -> FileBytes? { state.withLock { $0.files[ExactText(path)]?.bytes } }

    /// Holds a file's bytes, and drops the responses made from its old bytes. If the held bytes then exceed the limit,
    /// also releases the files that have been held longest.
    func hold(_ file: FileBytes, at path: String) {
        state.withLock { state in
            let path = ExactText(path)
            guard state.files[path]?.bytes !== file else { return }
            release(path, &state)
            state.ordinals += 1
            state.files[path] = HeldFile(bytes: file, ordinal: state.ordinals)
            guard file.heapBytes > 0 else { return }
            state.heapBytes += file.heapBytes
            state.fileOrder.append(path.text, stamp: state.ordinals, of: state.files.count) {
                state.files[ExactText($0)]?.ordinal == $1
            }
            while state.heapBytes > heapLimit,
                let oldest = state.fileOrder.popFirst(where: { state.files[ExactText($0)]?.ordinal == $1 })
            {
                release(ExactText(oldest), &state)
            }
        }
    }

    /// Releases a file's bytes, and drops the responses made from them.
    private func release(_ path: ExactText, _ state: inout State) {
        guard let file = state.files.removeValue(forKey: path) else { return }
        state.heapBytes -= file.bytes.heapBytes
        for name in file.names { remove(name, &state) }
    }
}

extension ResponsesInMemory {
    /// A response in memory, and the facts about it that a hit needs.
    ///
    /// It's a subclass of `CachedURLResponse`, so that a hit needs only one object, the response that it returns.
    // Foundation declares the superclass as `@unchecked Sendable`, so a subclass must repeat that. All that this class
    // adds is constant.
    final class Response: CachedURLResponse, @unchecked Sendable {
        /// The size of the body in bytes.
        let size: Int
        let key: String
        let file: URL?
        fileprivate let path: ExactText?
        /// Whether the response stays current as long as it's in memory, so that a hit checks nothing.
        let isAlwaysCurrent: Bool
        fileprivate let bytes: FileBytes?
        /// Whether the response is for an endless URL (see ``ResponsesInMemory``). Only the newest responses of that
        /// kind stay.
        fileprivate let isEndless: Bool
        /// The owner of the map in use, and the layer with which the response was made; `nil` if changed maps aren't
        /// reloaded.
        private let reloading: (maps: MapInUse, layer: MapLayer)?
        /// The missing files that would have been returned. If one of them is added, the response isn't current any
        /// more.
        private let missing: [(name: String, folder: ResourcesFolder?)]
        /// When the loader stops accepting the response, in nanoseconds since 1970; `nil` for never.
        private let expiresAt: Int64?
        /// When the network may be asked for a newer file, on the clock of ``System/steadyNow``; `nil` if it isn't
        /// asked (see ``Plan/question``).
        fileprivate let dueAt: Int64?

        /// - Parameters:
        ///   - bytes: The bytes that the response is made from; `nil` for an entry without a file.
        ///   - dueAt: When to look for a newer file again, on the clock of ``System/steadyNow``; `nil` if none was
        ///     looked for.
        init(
            _ response: CachedURLResponse,
            to plan: Plan,
            by substitution: Substitution,
            madeOf bytes: FileBytes?,
            dueAt: Int64?,
            in maps: MapInUse
        ) {
            size = response.data.count
            key = substitution.key
            file = substitution.fileURL
            path = plan.path.map { ExactText($0) }
            self.bytes = bytes
            isEndless = !plan.isSpelledAsKey
            reloading = maps.reloadsChanges ? (maps, plan.layer) : nil
            missing = plan.match?.missingFiles ?? []
            expiresAt = substitution.options.lifetime.map { System.now &+ Int64(min($0, 1e9) * 1e9) }
            self.dueAt = dueAt
            isAlwaysCurrent = reloading == nil && expiresAt == nil && dueAt == nil
            super.init(
                response: response.response,
                data: response.data,
                userInfo: response.userInfo,
                storagePolicy: response.storagePolicy
            )
        }

        // On Apple platforms, responses can be archived. An archive contains a plain `CachedURLResponse` instead of
        // this class.
        override var classForCoder: AnyClass { CachedURLResponse.self }
        required init?(coder: NSCoder) { nil }

        /// Whether the current map and file certainly still lead to this response. If `false`, look up the request
        /// again.
        var isCurrent: Bool { isAlwaysCurrent || !hasExpired && isUnchanged }

        fileprivate var hasExpired: Bool {
            expiresAt.map { System.now >= $0 } ?? false || dueAt.map { System.steadyNow >= $0 } ?? false
        }

        private var isUnchanged: Bool {
            guard let (maps, layer) = reloading else { return true }
            guard maps.isCurrent(layer), missing.allSatisfy({ $0.folder?.servedStatus(of: $0.name) == nil })
            else { return false }
            guard let path, let bytes else { return true }
            return FileStatus(path: path.text).map(bytes.isCurrent) ?? false
        }
    }
}

/// The names under which responses are held in memory.
extension ResponsesInMemory {
    /// Returns the name under which an entry's response is held in memory; `nil` if it isn't held.
    ///
    /// If every `GET` of the URL gets the response, the name is the URL, so that the response is found without a search
    /// of the map. If the entry has conditions, each request is looked up in the map, and the name identifies the entry
    /// or alternative that responds.
    static func name(for plan: Plan, by substitution: Substitution) -> String? {
        guard !plan.isHandled, let url = plan.request.url?.absoluteString, let match = plan.match,
            let number = match.number
        else { return nil }
        let obstacle = match.cacheOnlyObstacle
        let needsSession = if case .field? = obstacle { true } else { false }
        if match.isConditional || needsSession {
            let alternative = match.winner?.options.place?.number ?? 0
            return decidedName(url, map: match.depth, entry: number, alternative: alternative)
        }
        let isPlain = plan.request.httpMethod == "GET" && !substitution.isFollowed
        let mayBeReplaced = substitution.use == .untilUpdated && plan.isOffline
        return obstacle == nil && isPlain && !mayBeReplaced ? url : nil
    }

    /// Drops all responses to a URL that were made with one of these maps.
    func removeAll(for url: String, in maps: [SubstitutionMap]) {
        remove(url)
        guard let normal = try? NormalizedURL(url) else { return }
        for (place, map) in maps.enumerated() {
            for candidate in map.storage.index.candidates(for: normal) {
                let alternatives = map.storage.index.entries[candidate.number].options.alternatives
                for alternative in 0...alternatives.count {
                    remove(Self.decidedName(url, map: place, entry: candidate.number, alternative: alternative))
                }
            }
        }
    }

    /// Returns a name for a response that isn't found by its URL alone. Hits look up URLs, which have no spaces, so
    /// they never find this name.
    ///
    /// - Parameters:
    ///   - map: The position of the entry's map among the cache's maps.
    ///   - entry: The entry's number in the map's index.
    ///   - alternative: The alternative's number from 1; 0 for the entry itself.
    private static func decidedName(_ url: String, map: Int, entry: Int, alternative: Int) -> String {
        "\(url) \(map) \(entry) \(alternative)"
    }
}

extension Plan {
    /// Whether the request's URL is spelled exactly like the winning entry's key, or like the key in canonical form;
    /// `false` for a pattern. An entry has at most two such spellings, so the number of their responses in memory needs
    /// no limit.
    fileprivate var isSpelledAsKey: Bool {
        guard let match = match, let entry = match.winner, !entry.isPattern else { return false }
        let text = request.url?.absoluteString
        if text == entry.key { return true }
        return text == match.url.canonical && text == (try? NormalizedURL(key: entry.key))?.canonical
    }
}
