import Foundation
import Guarded
import LocalSubstitution
import MapWriting

/// A recorder's folder: the responses in it, and those that have yet to be written.
///
/// Bodies are written first, and then the map that names them. So however a process ends, the map is valid and each file that it
/// names is whole.
final class RecorderFolder: Sendable {
    /// The state that only the writer needs.
    private struct Output: Sendable {
        /// `nil` once the folder is closed.
        var lock: FileLock?
        var map: RecorderMap
        /// Names that no new file may have. A name stays until nothing on disk mentions its file.
        var names: RecordedFileName.InUse
    }

    let resources: ResourcesFolder
    private let folder: URL
    private let limit: Int
    private let redact: SubstitutionRecorder.Redaction?
    private let journal: RecordingJournal
    private let pending = Guarded(PendingResponses())
    private let index: Guarded<RecorderIndex>
    /// Locked while something is written, so that only one thread writes.
    private let output: Guarded<Output>

    /// - Parameter limit: The largest total size of the files, in bytes.
    init(_ folder: URL, limit: Int, redact: SubstitutionRecorder.Redaction?) throws(SubstitutionRecorderError) {
        let resources = folder.appendingPathComponent("Resources", isDirectory: true)
        // Checked before anything is created: a folder whose map is broken stays as it is.
        _ = try RecorderInventory.document(in: folder)
        do {
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        } catch {
            throw SubstitutionRecorderError(
                .unwritable,
                folder,
                "can't be created: \(error.localizedDescription.sentence)"
            )
        }
        let lock = try FileLock.ofRecorder(in: folder)
        journal = try RecordingJournal(in: folder)
        let inventory = try RecorderInventory(folder, resources: resources)
        try inventory.prepare()
        var index = inventory.index
        index.trim(to: limit, sparesNewest: false)
        let map = RecorderMap(
            inventory.mapFile,
            status: inventory.mapStatus,
            texts: index.responses.mapValues(\.text)
        )
        self.folder = folder
        self.resources = ResourcesFolder(resources)
        self.limit = limit
        self.redact = redact
        self.index = Guarded(index)
        output = Guarded(Output(lock: lock, map: map, names: inventory.names))
        if let problem = save() { throw SubstitutionRecorderError(.unwritable, folder, "isn't writable. \(problem)") }
    }

    // MARK: Responses in the folder

    var foreign: ForeignEntries { index.withLock { $0.foreign } }

    func response(for url: NormalizedURL) -> RecorderIndex.Response? { index.withLock { $0.responses[url.canonical] } }

    /// Notes that the server still has what is recorded for a URL.
    func confirm(_ url: NormalizedURL) {
        index.withLock { $0.confirm(url.canonical) }
    }

    // MARK: Responses to write

    var isClosed: Bool { pending.withLock { $0.isClosed } }

    var hasTooManyPending: Bool { pending.withLock { $0.areTooMany } }

    /// Adds a response to those that are written next. Returns whether there are now so many that they should be written.
    ///
    /// - Parameter report: Called once, when it's known what happened to the response.
    func add(_ response: ReceivedResponse, report: @escaping @Sendable (Exchange.Report) -> Void) -> Bool {
        let areMany: Bool? = pending.withLock { pending in
            guard !pending.isClosed else { return nil }
            pending.append(response, report: report)
            return pending.areMany
        }
        if areMany == nil { report(.notKept(reason: RecordingRules.Refusal.closed.description)) }
        return areMany ?? false
    }

    /// Writes the bodies of the responses that have arrived so far.
    func writeBodies() {
        // If all bodies have been written, the caller needn't wait for a map that is being written.
        guard pending.withLock({ !$0.all.isEmpty }) else { return }
        output.withLock { writeBodies(&$0) }
    }

    /// Writes the bodies of all responses so far, if one of them is for a URL. Requests for other URLs needn't wait for bodies to
    /// be written and redacted.
    func writeBodies(neededFor url: NormalizedURL) {
        let arrived = pending.withLock { $0.all }
        if arrived.contains(where: { (try? $0.response.url().canonical) == url.canonical }) { writeBodies() }
    }

    /// Writes the bodies of the responses that have arrived so far, the map, and the notes. Returns what went wrong; `nil` if
    /// nothing did.
    ///
    /// Waits until no command works on the folder, since changes that a command makes meanwhile would be lost. It waits before the
    /// output is locked, so that a slow command doesn't delay deliveries.
    ///
    /// - Parameter closing: Whether to unlock the folder. Nothing is added from now on.
    func save(closing: Bool = false) -> String? {
        if closing { pending.withLock { $0.isClosed = true } }
        let turn = try? FolderTurn(folder)
        defer { withExtendedLifetime(turn) {} }
        return output.withLock { output in
            writeBodies(&output)
            defer { if closing { output.lock = nil } }
            return save(&output)
        }
    }

    // MARK: Bodies

    private func writeBodies(_ output: inout Output) {
        let batch = pending.withLock { $0.all }
        guard !batch.isEmpty else { return }
        var outcomes = [Exchange.Report](repeating: .unchanged, count: batch.count)
        let foreign = foreign
        // Only `output` is locked here, since the redaction may take long.
        let decided = ReceivedResponse.Batch(batch.map(\.response), foreign, limit: limit, redact: redact)
        for (number, reason) in decided.refusals { outcomes[number] = .notKept(reason: reason.description) }
        index.withLock { index in
            for url in decided.dropped { index.drop(url.canonical) }
        }
        let new = decided.accepted.filter { !putUnchanged($0, foreign) }
            .map { (accepted: $0, file: newName(for: $0, &output.names)) }
        var problem: WrittenFolder.Problem?
        do throws(WrittenFolder.Problem) { try journal.add(new.map(\.file)) } catch { problem = error }
        for (accepted, file) in new {
            let body = accepted.response.body
            do throws(WrittenFolder.Problem) {
                if let problem { throw problem }
                try WrittenFolder(path: resources.path).create(body, as: file)
                put(accepted, file: file, foreign)
                outcomes[accepted.number] = .kept(
                    file: resources.url(of: file),
                    bytes: body.count,
                    note: accepted.response.headerNote
                )
            } catch {
                output.names.release(file)
                // The earlier recording stays. It was right when it was recorded, and has its own validator.
                outcomes[accepted.number] = .notKept(reason: error.fragment)
            }
        }
        for (pending, outcome) in zip(batch, outcomes) { pending.report(outcome) }
        pending.withLock { $0.removeFirst(batch.count) }
    }

    /// Keeps a response whose body is already in the folder; its entry may have changed. Returns whether the body is there.
    private func putUnchanged(_ accepted: ReceivedResponse.Batch.Accepted, _ foreign: ForeignEntries) -> Bool {
        guard let old = response(for: accepted.url), old.notes.digest == accepted.digest,
            old.notes.bytes == accepted.response.body.count,
            let status = FileStatus(path: resources.path(of: old.notes.file)), status.kind == .regular,
            status.size == old.notes.bytes
        else { return false }
        put(accepted, file: old.notes.file, foreign)
        return true
    }

    private func put(_ accepted: ReceivedResponse.Batch.Accepted, file: String, _ foreign: ForeignEntries) {
        let (url, digest) = (accepted.url, accepted.digest)
        let new = accepted.response.kept(url, file: file, digest: digest, defaults: foreign.defaults)
        index.withLock { index in
            index.put(new, for: url.canonical)
            index.trim(to: limit, sparesNewest: true)
        }
    }

    /// Returns a name that nothing in the folder has, including files that people have put there meanwhile.
    private func newName(for accepted: ReceivedResponse.Batch.Accepted, _ names: inout RecordedFileName.InUse) -> String
    {
        let isFirst = response(for: accepted.url) == nil
        let type = accepted.response.contentType?.essence
        let name = RecordedFileName(accepted.url, type: type, bodyDigest: isFirst ? nil : accepted.digest)
        var number = 0
        while true {
            let free = names.take(name.candidate(number))
            number += 1
            if let free, !WrittenFolder(path: resources.path).contains(free) { return free }
        }
    }

    // MARK: The map

    /// Writes the map, then the notes. Then removes old files, and then the journal's lines. In this order, the map never names a
    /// missing file, and each file in the folder is in the map or in the journal.
    private func save(_ output: inout Output) -> String? {
        guard output.lock != nil else { return nil }
        var unsaved = RecorderIndex.Unsaved()
        do throws(WrittenFolder.Problem) {
            if let edits = try output.map.edits(of: index.withLock { $0 }) {
                let resources = URL(fileURLWithPath: resources.path, isDirectory: true)
                let foreign = ForeignEntries(edits.document, resources: resources)
                index.withLock { $0.adopt(foreign, dropping: edits.keys) }
            }
            dropLostResponses()
            let index = index.withLock { index in
                let copy = index
                index.unsaved = RecorderIndex.Unsaved()
                return copy
            }
            unsaved = index.unsaved
            guard !unsaved.isEmpty else {
                journal.clear()
                return nil
            }
            try journal.add(unsaved.removed)
            let written = WrittenFolder(path: folder.path, role: .map)
            if unsaved.isMap { try output.map.write(index, to: written) }
            if unsaved.isNotes { try written.write(index.notesData, to: RecorderIndex.notesName) }
            remove(unsaved.removed, index)
            for name in unsaved.removed { output.names.release(name) }
            journal.clear()
            return nil
        } catch {
            index.withLock { $0.unsaved.formUnion(unsaved) }
            return error.message
        }
    }

    /// Drops the responses whose files someone has removed, if the map is going to be written: it couldn't be loaded with them.
    private func dropLostResponses() {
        let (responses, isWritten) = index.withLock { ($0.responses, $0.unsaved.isMap) }
        guard isWritten else { return }
        let lost = responses.filter { FileStatus(path: resources.path(of: $0.value.notes.file))?.kind != .regular }
        guard !lost.isEmpty else { return }
        index.withLock { index in
            for (url, response) in lost where index.responses[url]?.notes.file == response.notes.file {
                index.drop(url)
            }
        }
    }

    private func remove(_ files: Set<String>, _ index: RecorderIndex) {
        guard !files.isEmpty else { return }
        let inUse = Set(index.responses.values.map { RecordedFileName.InUse.folded($0.notes.file) })
        for name in files where !inUse.contains(RecordedFileName.InUse.folded(name)) && !index.foreign.names(name) {
            WrittenFolder(path: resources.path).remove(name)
        }
    }
}

extension RecorderFolder {
    /// Responses that have arrived and aren't written yet, in the order of their arrival.
    struct PendingResponses: Sendable {
        typealias Report = @Sendable (Exchange.Report) -> Void

        private(set) var all: [(response: ReceivedResponse, report: Report)] = []
        /// The total size of the bodies, in bytes.
        private(set) var bytes = 0
        /// Whether no more responses are accepted.
        var isClosed = false

        /// Whether the bodies take so much memory that they should be written now.
        var areMany: Bool { bytes > 1 << 20 }
        /// Whether the bodies take so much memory that no more should be delivered before they're written.
        var areTooMany: Bool { bytes > 16 << 20 }

        mutating func append(_ response: ReceivedResponse, report: @escaping Report) {
            all.append((response, report))
            bytes += response.body.count
        }

        mutating func removeFirst(_ count: Int) {
            bytes -= all.prefix(count).reduce(0) { $0 + $1.response.body.count }
            all.removeFirst(count)
        }
    }
}
