import Foundation
import Guarded
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A recorder's folder: the responses in it, and those that have yet to be written.
///
/// Bodies are written before the map that uses them. So even if the process is killed, the map is valid
/// and each file that it uses is complete.
final class RecorderFolder: Sendable {
    /// The state that is used only while something is written.
    private struct Output: Sendable {
        /// The lock against other recorders; `nil` once the folder is closed.
        var lock: FileLock?
        /// The map and the resources folder. The name of a removed file stays reserved as long as the map on disk uses
        /// the file.
        var map: MapFolder
        /// The values of the recorder's own entries in the map on disk, by key.
        var texts: [String: String]
    }

    static let mapName = "substitutions.json"

    let resources: ResourcesFolder
    private let folder: URL
    private let limit: Int
    private let redact: RecordedResponse.Redaction?
    private let journal: RecordingJournal
    private let pending = Guarded(PendingResponses())
    private let index: Guarded<RecorderIndex>
    /// It's locked while something is written, so that only one thread writes.
    private let output: Guarded<Output>

    /// Opens a folder for a recorder, and creates the folder if it's missing. Throws an error if another recorder uses
    /// the folder, if it isn't writable, or if its map is broken.
    ///
    /// - Parameter limit: The largest total size of the files, in bytes. Beyond the limit, the oldest responses are
    ///   dropped.
    init(_ folder: URL, limit: Int, redact: RecordedResponse.Redaction?) throws(SubstitutionRecorderError) {
        let mapFile = folder.appendingPathComponent(Self.mapName, isDirectory: false)
        let resources = MapFolder.resources(of: mapFile, without: Self.lostFiles(beside: mapFile))
        var map = MapFolder(mapFile, resources: resources)
        // Checked before anything is created: a folder whose map is broken stays as it is.
        _ = try RecorderIndex.document(of: &map, in: folder)
        if let misspelling = map.misspelling {
            throw SubstitutionRecorderError(.unwritable, folder, "can't be used. \(misspelling)")
        }
        if let file = WrittenFolder.fileInPlace(of: resources) {
            let isFolder = file == folder.standardizedFileURL.path
            let subject = isFolder ? "is a file, not a folder" : "can't be used, since “\(file)” is a file"
            throw SubstitutionRecorderError(.unwritable, folder, "\(subject). Name another folder, or move the file.")
        }
        do {
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        } catch {
            let reason = error.localizedDescription.sentence
            throw SubstitutionRecorderError(.unwritable, folder, "can't be created: \(reason) Use another folder.")
        }
        let lock = try FileInPlace.lock(folder)
        journal = try RecordingJournal(in: folder)
        var index = try RecorderIndex(reading: &map, in: folder)
        index.trim(to: limit, sparesNewest: false)
        self.folder = folder
        self.resources = ResourcesFolder(resources)
        self.limit = limit
        self.redact = redact
        output = Guarded(Output(lock: lock, map: map, texts: index.responses.mapValues(\.text)))
        self.index = Guarded(index)
        // If the disk is full, the recorded responses are still returned, and the next save tries again.
        if let problem = save(), !problem.isDiskFull {
            throw SubstitutionRecorderError(.unwritable, folder, "isn't writable. \(problem)")
        }
    }

    /// Returns the files of recorded responses that aren't in the map's own folder. When the folder is opened, the
    /// recorder drops these responses, so their entries don't need that folder.
    private static func lostFiles(beside map: URL) -> Set<String> {
        let folder = map.deletingLastPathComponent()
        let files = (RecorderIndex.notes(in: folder) ?? [:]).values.flatMap { $0.map(\.file) }
        return Set(files.filter { FileStatus(path: ResourcesFolder(folder).path(of: $0)) == nil })
    }

    // MARK: Responses in the folder

    var newOrChanged: Int { index.withLock { $0.newOrChanged } }

    var foreign: ForeignEntries { index.withLock { $0.foreign } }

    func responses(for url: NormalizedURL) -> Representations? { index.withLock { $0.responses[url.canonical] } }

    /// Notes that the recorded response is still current, which makes it the newest. Does nothing if there's none.
    func confirm(_ url: NormalizedURL, for headers: [String: String]) {
        index.withLock { $0.confirm(url.canonical, for: headers) }
    }

    // MARK: Responses to write

    var isClosed: Bool { pending.withLock { $0.isClosed } }

    var hasTooManyPending: Bool { pending.withLock { $0.areTooMany } }

    /// Returns whether so many bytes are waiting that they should be written now.
    ///
    /// - Parameter report: Called once with what happened to the response. It's called when the response is written or
    ///   refused, or at once if the folder is closed.
    func add(_ exchange: Exchange, report: @escaping @Sendable (Exchange.Report) -> Void) -> Bool {
        let areMany: Bool? = pending.withLock { pending in
            guard !pending.isClosed else { return nil }
            pending.append(exchange, report: report)
            return pending.areMany
        }
        if areMany == nil { report(.notRecorded(.closed)) }
        return areMany ?? false
    }

    /// Returns why a body couldn't be written; `nil` if all were.
    func writeBodies() -> Complaint? {
        // If no body is waiting, the caller needn't wait while another thread writes the map.
        guard pending.withLock({ !$0.all.isEmpty }) else { return nil }
        return output.withLock { writeBodies(&$0) }
    }

    /// Writes the bodies of all pending responses if one of them is for the given URL. Otherwise, does nothing, so that
    /// requests for other URLs needn't wait until bodies are redacted and written. Returns why a body couldn't be
    /// written; otherwise, `nil`.
    func writeBodies(neededFor url: NormalizedURL) -> Complaint? {
        let arrived = pending.withLock { $0.all }
        let isNeeded = arrived.contains {
            (try? RecordingRules.url(of: $0.exchange.request).canonical) == url.canonical
        }
        return isNeeded ? writeBodies() : nil
    }

    /// Writes the waiting bodies, the map and the notes. Returns why something couldn't be written; `nil` if everything
    /// was, or if the folder is closed.
    ///
    /// First waits until no command is changing the folder: otherwise, the command's changes would be overwritten.
    /// Locks `output` only then, so that a slow command doesn't delay deliveries.
    ///
    /// - Parameter closing: Whether to close the folder afterward; `false` by default. A closed folder is unlocked, and
    ///   accepts no more responses.
    func save(closing: Bool = false) -> Complaint? {
        if closing { pending.withLock { $0.isClosed = true } }
        let turn = try? FolderTurn(folder)
        defer { withExtendedLifetime(turn) {} }
        return output.withLock { output in
            let problem = writeBodies(&output)
            defer { if closing { output.lock = nil } }
            return save(&output) ?? problem
        }
    }

    // MARK: Bodies

    private func writeBodies(_ output: inout Output) -> Complaint? {
        let batch = pending.withLock { $0.all }
        guard !batch.isEmpty else { return nil }
        var outcomes = [Exchange.Report](repeating: .unchanged, count: batch.count)
        let foreign = foreign
        // Of several responses to the same request, only the last can be recorded.
        var last: [String: [(number: Int, accepted: Exchange.Accepted)]] = [:]
        // Only `output` is locked here, since the redaction may take long.
        for (number, (exchange, _)) in batch.enumerated() {
            switch exchange.decision(foreign, limit: limit, redact: redact) {
            case .record(let accepted):
                last[accepted.url.canonical, default: []].removeAll { _, other in
                    let headers = accepted.requestHeaders
                    guard other.isForSameRequest(as: headers, choosing: accepted.choosing.names) else { return false }
                    if accepted.choosing.hasOthers, other.digest != accepted.digest { accepted.replacesAnother = true }
                    return true
                }
                last[accepted.url.canonical, default: []].append((number, accepted))
            case .refuse(let reason, let outdated):
                if let url = outdated?.canonical {
                    let headers = exchange.request.headers
                    last[url]?.removeAll { $0.accepted.isForSameRequest(as: headers) }
                    index.withLock { $0.drop(url, file: $0.responses[url]?.recorded(for: headers)?.notes.file) }
                }
                outcomes[number] = .notRecorded(reason)
            }
        }
        let files = WrittenFolder.Batch(in: output.map.writtenResources)
        func recordsUnchanged(_ number: Int, _ accepted: Exchange.Accepted) -> Bool {
            guard let file = putUnchanged(accepted, foreign) else { return false }
            if accepted.dropsOldest { outcomes[number] = recorded(accepted, as: file) }
            return true
        }
        var new: [(number: Int, accepted: Exchange.Accepted, file: String)] = []
        for (number, accepted) in last.values.flatMap(\.self).sorted(by: { $0.number < $1.number }) {
            guard !recordsUnchanged(number, accepted) else { continue }
            new.append((number, accepted, newName(for: accepted, &output.map.names, files)))
        }
        var problem: Complaint?
        var ofJournal: Complaint?
        do throws(Complaint) { try journal.add(new.map(\.file)) } catch { ofJournal = error }
        for (number, accepted, file) in new {
            do throws(Complaint) {
                if let ofJournal { throw ofJournal }
                // A response that arrived together with this one may have the same body.
                if recordsUnchanged(number, accepted) {
                    output.map.names.release(file)
                    continue
                }
                try files.create(accepted.response.body, as: file)
                put(accepted, file: file, foreign)
                outcomes[number] = recorded(accepted, as: file)
            } catch {
                output.map.names.release(file)
                // The earlier recording stays: it's still complete, and has its own validator.
                outcomes[number] = .notRecorded(error)
                problem = error
            }
        }
        for (pending, outcome) in zip(batch, outcomes) { pending.report(outcome) }
        pending.withLock { $0.removeFirst(batch.count) }
        return problem
    }

    private func recorded(_ accepted: Exchange.Accepted, as file: String) -> Exchange.Report {
        .recorded(file: resources.url(of: file), bytes: accepted.response.body.count, note: accepted.note)
    }

    /// Records a response without writing its body, if the folder already has the same body. Returns the body's file.
    /// Otherwise, changes nothing and returns `nil`.
    private func putUnchanged(_ accepted: Exchange.Accepted, _ foreign: ForeignEntries) -> String? {
        let found = responses(for: accepted.url)
        let recorded = found?.recorded(for: accepted.requestHeaders)
        let (digest, bytes) = (accepted.digest, accepted.response.body.count)
        for old in found?.all ?? [] where old.notes.digest == digest && old.notes.bytes == bytes {
            // Other requests with this response still need its type.
            let isOnlyOwn = old.notes.file == recorded?.notes.file && old.requests.count < 2
            let name = old.notes.file
            let new = accepted.recorded(as: name, defaults: foreign.defaults)
            guard isOnlyOwn || old.written.hasSameFields(as: new.written),
                let status = FileStatus(path: resources.path(of: name)), status.kind == .regular,
                status.size == old.notes.bytes
            else { continue }
            put(accepted, file: name, foreign)
            return name
        }
        if recorded != nil, accepted.choosing.hasOthers { accepted.replacesAnother = true }
        return nil
    }

    private func put(_ accepted: Exchange.Accepted, file: String, _ foreign: ForeignEntries) {
        let new = accepted.recorded(as: file, defaults: foreign.defaults)
        index.withLock { index in
            accepted.dropsOldest = index.put(new, for: accepted.url.canonical, to: accepted.requestHeaders)
            index.trim(to: limit, sparesNewest: true)
        }
    }

    /// The name is new to the whole folder, which may have files that a person added.
    private func newName(
        for accepted: Exchange.Accepted,
        _ names: inout RecordedFileName.InUse,
        _ files: WrittenFolder.Batch
    ) -> String {
        let isFirst = responses(for: accepted.url) == nil
        let name = accepted.response.fileName(for: accepted.url, digest: isFirst ? nil : accepted.digest)
        return names.take(name, unless: files.contains)
    }

    // MARK: The map

    /// Writes the map and the notes, removes old files, and clears the journal, in this order. So the map never uses a
    /// missing file, and each file in the folder is in the map or in the journal. Returns why something couldn't be
    /// written; otherwise, `nil`.
    private func save(_ output: inout Output) -> Complaint? {
        guard output.lock != nil else { return nil }
        do throws(SubstitutionMapError) {
            try adoptEdits(&output)
        } catch {
            return Complaint(
                "“\(Self.mapName)” has a problem, so the recorder doesn't write to it. \(RecorderIndex.advice(on: error))"
            )
        }
        var unsaved = RecorderIndex.Unsaved()
        do throws(Complaint) {
            dropLostResponses()
            let index = index.withLock { index in
                let copy = index
                index.unsaved = RecorderIndex.Unsaved()
                return copy
            }
            unsaved = index.unsaved
            guard unsaved.isNotes else {
                journal.clear()
                return nil
            }
            try journal.add(unsaved.removed)
            if unsaved.isMap {
                var document = index.foreign.document
                let own = index.responses.mapValues(\.text)
                document.values.merge(own) { foreign, _ in foreign }
                try output.map.save(document.data)
                output.texts = own
            }
            try output.map.writtenFolder.write(index.notesData, to: RecorderIndex.notesName)
            output.map.removeUnused(index.unused(unsaved.removed, in: output.map))
            for name in unsaved.removed { output.map.names.release(name) }
            journal.clear()
            return nil
        } catch {
            index.withLock { $0.unsaved.formUnion(unsaved) }
            return error
        }
    }

    /// Takes over the changes that people have made to the map since the recorder last wrote it. Throws an error if the
    /// map isn't valid at the moment, so that the recorder doesn't overwrite it.
    ///
    /// If the map was removed, does nothing until the recorder has a new map to write, since the folder may be about to
    /// be removed, too. When the recorder writes the new map, people's entries are treated as removed, except
    /// `$defaults`: the recorder's entries depend on it.
    private func adoptEdits(_ output: inout Output) throws(SubstitutionMapError) {
        guard output.map.hasChanged else { return }
        let (foreign, isUnsaved) = index.withLock { ($0.foreign, $0.unsaved.isMap) }
        let found = try output.map.readDocument()
        guard found != nil || isUnsaved else { return }
        var document = found ?? foreign.document
        var lost: [String] = []
        if let found {
            lost = output.texts.keys.filter { found.values[$0] == nil }
            output.texts = output.texts.filter { found.values[$0.key] == $0.value }
            for key in output.texts.keys { document.values[key] = nil }
            lost += document.values.keys
        } else {
            document.values = document.values.filter { $0.key.hasPrefix("$") }
        }
        let adopted = ForeignEntries(document, resources: output.map.resources)
        index.withLock { $0.adopt(adopted, dropping: lost) }
    }

    /// If the map is about to be written, drops the responses whose files were removed. A map that uses missing files
    /// couldn't be loaded.
    private func dropLostResponses() {
        let (responses, isWritten) = index.withLock { ($0.responses, $0.unsaved.isMap) }
        guard isWritten else { return }
        let lost = responses.flatMap { url, found in found.files.map { (url, $0) } }
            .filter { FileStatus(path: resources.path(of: $0.1))?.kind != .regular }
        guard !lost.isEmpty else { return }
        index.withLock { index in
            for (url, file) in lost { index.drop(url, file: file) }
        }
    }
}

extension RecorderFolder {
    /// Responses that have arrived and aren't written yet, in the order of their arrival.
    struct PendingResponses: Sendable {
        typealias Report = @Sendable (Exchange.Report) -> Void

        private(set) var all: [(exchange: Exchange, report: Report)] = []
        private(set) var bytes = 0
        var isClosed = false

        /// Whether the bodies take more than 1 MiB of memory, so that they should be written now.
        var areMany: Bool { bytes > 1 << 20 }
        /// Whether the bodies take more than 16 MiB of memory, so that they must be written before more are delivered.
        var areTooMany: Bool { bytes > 16 << 20 }

        mutating func append(_ exchange: Exchange, report: @escaping Report) {
            all.append((exchange, report))
            bytes += exchange.body.count
        }

        mutating func removeFirst(_ count: Int) {
            bytes -= all.prefix(count).reduce(0) { $0 + $1.exchange.body.count }
            all.removeFirst(count)
        }
    }
}
