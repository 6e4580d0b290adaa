import Foundation
package import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The result of comparing an exact entry's file with what the entry's URL serves now.
package struct RemoteComparison: Sendable, Encodable {
    /// How the URL's body compares with the file, or why they couldn't be compared.
    package enum Result: String, Sendable, Encodable, CaseIterable {
        /// The URL serves the file's bytes.
        case same
        /// The URL serves other bytes, and the file wasn't replaced.
        case changed
        /// The URL serves other bytes, and the file was replaced with them.
        case updated
        /// The server responded with status 404 or 410.
        case gone
        /// The URL can't be parsed or loaded, or the response has a status, such as 401 or 503, that doesn't tell what
        /// the URL serves.
        case unreachable
        /// The file can't be read, or the URL's body is longer than the limit.
        case unreadable = "error"
    }

    package let key: String
    /// The entry's line in the map, from 1.
    package let line: Int
    package let url: String
    /// The file's name in the resources folder, as the entry has it.
    package let file: String
    package fileprivate(set) var result = Result.same
    /// How many bytes the file had; `nil` if it couldn't be read.
    package fileprivate(set) var bytes: Int?
    /// The length of the URL's body, in bytes; `nil` unless the result is `same`, `changed` or `updated`.
    package fileprivate(set) var remoteBytes: Int?
    /// The offset of the first byte that differs, from 0; `nil` unless the result is `changed` or `updated`.
    package fileprivate(set) var firstDifference: Int?
    /// The status of the response if the result is ``Result/gone``; otherwise, `nil`.
    package fileprivate(set) var status: Int?
    /// Why the result is `unreachable` or `unreadable`, or why a changed file wasn't replaced although
    /// that was requested; otherwise, `nil`.
    package fileprivate(set) var reason: String?

    fileprivate init(_ entry: Entry) {
        (key, line, file) = (entry.key, Int(entry.line), entry.file?.text ?? "")
        url = (try? NormalizedURL(key: key).text) ?? key
    }

    fileprivate mutating func fail(_ result: Result, _ reason: String) { (self.result, self.reason) = (result, reason) }
}

extension SubstitutionMap {
    /// Compares the files of exact entries with what their URLs serve now. Loads six URLs at a time, without cache or
    /// cookies, and follows redirects. If several entries use a file, their URLs are loaded one after another.
    ///
    /// An entry is compared only if it returns a file for every `GET` of its URL. That leaves out patterns, and entries
    /// that are `null`, disabled, without a file, or for other methods only. If an entry has alternatives, only the
    /// first one for `GET` is compared. If that one has `when` or `times`, the entry isn't compared. Bodies are
    /// compared only if the response's status is 200 or the entry's status.
    ///
    /// - Parameters:
    ///   - limit: The longest body to load from one URL, in bytes.
    ///   - refusal: The reason to report if a URL's body is longer than the limit.
    ///   - updating: Whether to replace a file if its URL serves other bytes. If several entries use the file, all of
    ///     their URLs must serve the same bytes. A stream's piece is never replaced, nor a file whose new bytes
    ///     contradict its MIME type, nor a file of a map that needs a newer version of the library.
    ///   - progress: Called before the first comparison, and after all comparisons of each file, with the number of
    ///     comparisons made so far and the total.
    /// - Returns: The comparisons, in the order of the map; empty if the map has no resources folder.
    package func comparedWithRemote(
        limit: Int,
        refusal: String,
        updating: Bool,
        progress: (_ count: Int, _ total: Int) -> Void
    ) async -> [RemoteComparison] {
        guard let resources else { return [] }
        return await RemoteComparer(self, in: resources, limit: limit, refusal: refusal, updating: updating)
            .run(progress)
    }
}

/// A run that compares files with what the URLs of their entries serve.
private struct RemoteComparer: Sendable {
    /// A file, and the entries that use it. The file is compared with the URL of each entry.
    private struct Job: Sendable {
        let name: String
        let entries: [Entry]
        /// The entry whose stream has the file as a piece; `nil` if there's none.
        let stream: Entry?
    }

    private let jobs: [Job]
    private let folder: ResourcesFolder
    /// The longest body to load into memory, in bytes.
    private let limit: Int
    private let refusal: String
    private let updating: Bool
    /// Why no file can be replaced; `nil` if files can.
    private let obstacle: String?
    private let loader = UncachedLoader(.current)

    private static let mostAtATime = 6

    init(_ map: SubstitutionMap, in folder: ResourcesFolder, limit: Int, refusal: String, updating: Bool) {
        (self.folder, self.limit, self.refusal, self.updating) = (folder, limit, refusal, updating)
        obstacle = map.newerVersion?.message
        let entries = map.entries
        var groups: [ExactText: [Entry]] = [:]
        for entry in entries where !entry.isPattern {
            guard let responding = entry.respondingToEveryGet, let name = responding.file?.text else { continue }
            groups[ExactText(folder.realName(of: name) ?? name), default: []].append(responding)
        }
        var pieces: [ExactText: Entry] = [:]
        for entry in entries.flatMap(\.responding) where entry.file == nil {
            for file in entry.files { pieces[ExactText(folder.realName(of: file.text) ?? file.text)] = entry }
        }
        jobs = groups.sorted { ($0.value[0].line, $0.value[0].key) < ($1.value[0].line, $1.value[0].key) }
            .map { name, entries in
                Job(name: entries[0].file?.text ?? "", entries: entries, stream: pieces[name])
            }
    }

    func run(_ progress: (_ count: Int, _ total: Int) -> Void) async -> [RemoteComparison] {
        if updating { removeLeftovers() }
        let total = jobs.reduce(0) { $0 + $1.entries.count }
        progress(0, total)
        let done = await withTaskGroup(of: [RemoteComparison].self) { group in
            var waiting = jobs[...]
            var done: [RemoteComparison] = []
            func start() {
                if let job = waiting.popFirst() { group.addTask { await compare(job) } }
            }
            for _ in 0..<Self.mostAtATime { start() }
            for await comparisons in group {
                start()
                done += comparisons
                progress(done.count, total)
            }
            return done
        }
        loader.end()
        return done.sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    }

    /// Removes temporary files that killed commands left in the folder. Does nothing if the folder can't be locked.
    private func removeLeftovers() {
        guard let turn = try? FolderTurn(folder.url, limit: 0) else { return }
        defer { withExtendedLifetime(turn) {} }
        let written = WrittenFolder(path: folder.path, holdsTurn: true)
        for name in folder.names(limit: .max) where WrittenFolder.isLeftover(name) { written.remove(name) }
    }

    /// Compares a file with what the URL of each entry serves, one after another. Then replaces the file if that was
    /// requested, and if all URLs serve the same new bytes.
    private func compare(_ job: Job) async -> [RemoteComparison] {
        var comparisons = job.entries.map { RemoteComparison($0) }
        let old: FileBytes
        do throws(Complaint) {
            old = try FileBytes(opening: job.name, in: folder)
        } catch {
            for index in comparisons.indices {
                comparisons[index].fail(.unreadable, "The file “\(comparisons[index].file)” \(error)")
            }
            return comparisons
        }
        var new: Data?
        // Why the file can't be replaced; `nil` if it can. A stream's piece can't, since the stream's URL serves all
        // pieces together.
        var obstacle =
            obstacle
            ?? job.stream.map {
                "The file is also a piece of the stream of the entry “\($0.key)”. Replace it by hand."
            }
        for (index, entry) in job.entries.enumerated() {
            let body = await compare(old.data, status: entry.options.status, &comparisons[index])
            guard updating else { continue }
            if body == nil {
                obstacle =
                    obstacle
                    ?? "The entry “\(entry.key)” also uses the file, but its URL couldn't be compared. "
                    + "Correct that entry first."
            } else if let new, new != body {
                obstacle =
                    "Several entries use the file, but their URLs serve different bytes. Give each entry its own file."
            }
            new = new ?? body
        }
        guard updating else { return comparisons }
        if obstacle == nil, let new, new != old.data {
            do throws(Complaint) { try replace(old, by: new, of: job) } catch { obstacle = error.description }
        }
        for index in comparisons.indices where comparisons[index].result == .changed {
            if obstacle == nil { comparisons[index].result = .updated }
            comparisons[index].reason = obstacle
        }
        return comparisons
    }

    /// Compares a file's bytes with what its URL serves, and sets the comparison's result. Returns the URL's body.
    /// Returns `nil` if the URL can't be loaded, if its body is longer than the limit, if the response's status is
    /// neither 200 nor the entry's, or if it's a redirect without a body.
    ///
    /// - Parameter status: The entry's status.
    private func compare(_ bytes: Data, status: Int, _ comparison: inout RemoteComparison) async -> Data? {
        comparison.bytes = bytes.count
        guard let url = URL(string: comparison.url) else {
            comparison.fail(.unreachable, "Foundation can't parse the URL. Correct the key.")
            return nil
        }
        let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        let result = await withCheckedContinuation { continuation in
            loader.load(request, limit: limit) { continuation.resume(returning: $0) }
        }
        switch result {
        case .failure(let error) where error.code == .dataLengthExceedsMaximum:
            comparison.fail(.unreadable, refusal)
        case .failure(let error):
            comparison.fail(.unreachable, "The URL can't be loaded: \(error.localizedDescription.sentence)")
        // Linux's loader leaves out the body of a redirect that it can't follow.
        case .success((let response, let data))
        where [200, status].contains(response.statusCode)
            && !(data.isEmpty && Redirect.statuses.contains(response.statusCode)):
            comparison.remoteBytes = data.count
            if data != bytes {
                comparison.result = .changed
                comparison.firstDifference = Self.firstDifference(bytes, data)
            }
            return data
        case .success((let response, _)) where [404, 410].contains(response.statusCode):
            (comparison.result, comparison.status) = (.gone, response.statusCode)
        case .success((let response, _)):
            comparison.fail(
                .unreachable,
                "The server responded with status \(response.statusCode). Open the URL to see why."
            )
        }
        return nil
    }

    /// Returns the offset of the first byte at which two bodies differ. If one body begins with the whole other one,
    /// returns the length of the shorter one.
    static func firstDifference(_ first: Data, _ second: Data) -> Int {
        let offset = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        return offset ?? min(first.count, second.count)
    }

    /// Replaces the file with a body. Throws an error if the file is unchanged.
    private func replace(_ old: FileBytes, by body: Data, of job: Job) throws(Complaint) {
        if let contradiction = contradiction(body, old.data, of: job) { throw contradiction }
        let turn = try FolderTurn(folder.url, limit: 30)
        defer { withExtendedLifetime(turn) {} }
        // Writes to the real path, so that a symbolic link to another file in the folder stays a link.
        guard let place = folder.realName(of: job.name), FileStatus(path: folder.path(of: job.name)) == old.status
        else {
            throw Complaint(
                "Another program changed or removed the file while its URL was loaded. Run the command again."
            )
        }
        try WrittenFolder(path: folder.path, holdsTurn: true).write(body, to: place)
    }

    /// Returns why a new body contradicts the MIME type that the file is sent with. For example, a server may send an
    /// error page with status 200 instead of a picture. Returns `nil` if the body may have this type, or if the old
    /// bytes contradict the type, too.
    private func contradiction(_ body: Data, _ old: Data, of job: Job) -> Complaint? {
        guard let entry = job.entries.last else { return nil }
        let type = Substitution(entry, fileName: job.name, folder: folder, url: try? NormalizedURL(entry.key)).mimeType
        let length = MIMEType.sniffedLength
        guard MIMEType.contradicts(old.prefix(length), type: type) == nil else { return nil }
        return MIMEType.contradicts(body.prefix(length), type: type).map {
            Complaint(
                "The file is served as \(type), but the first bytes that the URL serves say otherwise: \($0). "
                    + "The file wasn't replaced. Open the URL to see what it serves."
            )
        }
    }
}
