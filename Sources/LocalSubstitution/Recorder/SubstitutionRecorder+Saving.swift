import Dispatch
import Foundation
import Guarded

extension SubstitutionRecorder {
    /// What the folder has, as it was last written.
    struct Saved: Sendable {
        /// The counts of changes that are on disk.
        var changes = (map: 0, all: 0)
        var mapStatus: FileStatus?
        /// The recorder's own entries in the map on disk.
        var texts: [String: String] = [:]
    }

    /// Has everything written soon, on a queue of its own: the first change almost at once, then several together.
    func saveSoon() {
        let now = DispatchTime.now()
        let time: DispatchTime? = state.withLock { state in
            guard !state.isSaveDue else { return nil }
            state.isSaveDue = true
            return max(now + .milliseconds(10), state.savedAt.map { $0 + .milliseconds(300) } ?? now)
        }
        guard let time else { return }
        queue.asyncAfter(deadline: time) { [weak self] in self?.saveAndReport() }
    }

    func saveAndReport() {
        guard let problem = save() else { return }
        onProblem?(problem)
    }

    /// Writes the map, then what belongs to it; then old files go, and then the journal's lines. In this order, so that the map
    /// never names a file that is not there, and no file is left that nobody knows of.
    ///
    /// Only one at a time.
    func save() -> String? {
        guard lock.isHeld else { return nil }
        state.withLock { state in
            state.isSaveDue = false
            state.savedAt = .now()
        }
        // What others write meanwhile would be lost: they wait for their turn, and this one for them.
        let turn = try? FolderTurn(folder)
        defer { withExtendedLifetime(turn) {} }
        do throws(WrittenFolder.Problem) {
            try adoptEdits()
            let (index, foreign, saved) = state.withLock { ($0.index, $0.foreign, $0.saved) }
            guard index.changes.all != saved.changes.all || !index.removed.isEmpty else { return nil }
            try journal.begin(index.removed)
            let output = WrittenFolder(path: folder.path, role: .map)
            var texts = saved.texts
            if index.changes.map != saved.changes.map {
                texts = index.kept.mapValues(\.text)
                var document = foreign.document
                document.values.merge(texts) { own, _ in own }
                try output.write(document.data, to: Self.mapName)
            }
            let written = Saved(
                changes: (index.changes.map, saved.changes.all),
                mapStatus: FileStatus(path: mapFile.path),
                texts: texts
            )
            state.withLock { $0.saved = written }
            if index.changes.all != saved.changes.all {
                try output.write(RecorderFile.data(index.kept), to: RecorderFile.name)
            }
            remove(index.removed, after: index, foreign)
            state.withLock { state in
                state.saved.changes = index.changes
                state.index.forget(removed: index.removed, settled: index.settled)
            }
            journal.settle(index.settled.union(index.removed))
            return nil
        } catch {
            return error.message
        }
    }

    private func remove(_ files: Set<String>, after index: RecorderIndex, _ foreign: ForeignEntries) {
        guard !files.isEmpty else { return }
        let inUse = Set(index.kept.values.map { NamesInUse.folded($0.file) })
        for name in files where !inUse.contains(NamesInUse.folded(name)) && !foreign.names(name) {
            WrittenFolder(path: resources.path).remove(name)
        }
    }

    /// Takes over what somebody has done to the map since it was written. A map that is broken just now is not touched.
    private func adoptEdits() throws(WrittenFolder.Problem) {
        let saved = state.withLock { $0.saved }
        guard let status = FileStatus(path: mapFile.path), status != saved.mapStatus else { return }
        guard var document = try? MapDocument(contentsOf: mapFile) else {
            throw WrittenFolder.Problem(name: Self.mapName, code: EILSEQ)
        }
        let found = document.values
        for (key, text) in saved.texts where found[key] == text { document.values[key] = nil }
        let foreign = ForeignEntries(document, resources: URL(fileURLWithPath: resources.path, isDirectory: true))
        state.withLock { state in
            state.foreign = foreign
            for key in Array(state.index.kept.keys) {
                // A person's entry now, or one that was taken out. Its file goes, unless an entry still names it.
                let isGone = found[key] == nil && saved.texts[key] != nil
                if document.values[key] != nil || isGone { state.index.drop(key) }
            }
            state.saved.mapStatus = status
            state.saved.texts = saved.texts.filter { found[$0.key] == $0.value }
            // So that the map is written, with what is new on both sides.
            state.index.note(isInMap: true)
        }
    }
}
