import Dispatch
public import Foundation
import Guarded

/// Keeps responses as files in a folder, with a map that serves them: for use without a network, and as fixtures of tests.
///
/// The folder has a map, `substitutions.json`, and the files in `Resources`, and serves as it is. What people write into the map
/// is never changed: `null` entries name the URLs never to keep, and an entry of their own for a URL stays. Only one recorder
/// can have a folder at a time. However a process ends, the map is valid and each of its files is whole.
public final class SubstitutionRecorder: Sendable {
    /// The folder with the map and the files.
    public let folder: URL
    /// The map, `substitutions.json`.
    public var mapFile: URL { folder.appendingPathComponent(Self.mapName, isDirectory: false) }

    let limit: Int
    let resources: ResourcesFolder
    let state: Guarded<State>
    let keepings = OpenKeepings()
    let journal: RecordingJournal
    /// Writes the map, in the background.
    let queue = DispatchQueue(label: "LocalSubstitution.recorder", qos: .utility)
    /// Writes bodies, one at a time.
    let keepingQueue = DispatchQueue(label: "LocalSubstitution.recorder.bodies", qos: .utility)
    let lock: FolderLock

    static let mapName = "substitutions.json"

    /// Everything that changes, but for the files.
    struct State: Sendable {
        var index: RecorderIndex
        var foreign: ForeignEntries
        var saved = Saved()
        var isSaveDue = false
        var savedAt: DispatchTime?
        var onProblem: (@Sendable (String) -> Void)?
    }

    /// Opens a folder, which is made if there is none.
    ///
    /// - Parameters:
    ///   - folder: The folder for the map and the files.
    ///   - limit: How many bytes the kept files may have together; the oldest are dropped. One of more than a twentieth of it is
    ///     not kept.
    /// - Throws: If another recorder has the folder, if its map can't be read or is no JSON object, or if it can't be written.
    public init(folder: URL, limit: Int = 50_000_000) throws(SubstitutionRecorderError) {
        let mapFile = folder.appendingPathComponent(Self.mapName, isDirectory: false)
        let resources = folder.appendingPathComponent("Resources", isDirectory: true)
        // Before anything is made: a folder whose map is broken stays as it is.
        _ = try Self.document(mapFile, in: folder)
        do {
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        } catch {
            throw SubstitutionRecorderError(.unwritable, folder, "can't be made: \(error.localizedDescription)")
        }
        lock = try FolderLock(folder)
        let (journal, names) = try RecordingJournal.open(in: folder)
        let status = FileStatus(path: mapFile.path)
        let document = try Self.document(mapFile, in: folder)
        var opening = RecorderOpening(
            document ?? MapDocument(),
            records: RecorderFile.records(in: folder),
            journal: names,
            resources: resources,
            now: Self.now
        )
        self.folder = folder
        self.limit = max(limit, 0)
        self.resources = ResourcesFolder(resources)
        self.journal = journal
        try Self.prepare(folder, resources, removing: opening.orphans)
        opening.trim(to: self.limit)
        if document == nil { opening.noteMissingMap() }
        var saved = Saved()
        saved.mapStatus = status
        saved.texts = opening.index.kept.mapValues(\.text)
        state = Guarded(State(index: opening.index, foreign: opening.foreign, saved: saved))
        if let problem = save() { throw SubstitutionRecorderError(.unwritable, folder, "is not writable: \(problem)") }
        self.journal.settle([])
    }

    deinit {
        // Here and now: the last reference may go on the queue.
        _ = save()
    }

    /// Writes what is kept, and lets go of the folder, so that another recorder can have it. Nothing is kept from now on, and
    /// nothing answered. A recorder that goes closes by itself.
    public func close() {
        keepings.close()
        keepings.waitForThoseSoFar()
        queue.sync {
            saveAndReport()
            lock.release()
        }
    }

    /// Writes at once what is kept: waits for the responses that are being kept now, then writes the map.
    ///
    /// If that fails, as on a full disk, it is tried again with the next response.
    public func flush() {
        keepings.waitForThoseSoFar()
        queue.sync { saveAndReport() }
    }

    /// Is told what could not be written, in a sentence; on any thread.
    public var onProblem: (@Sendable (String) -> Void)? {
        get { state.withLock { $0.onProblem } }
        set { state.withLock { $0.onProblem = newValue } }
    }

    /// In milliseconds since 1970.
    static var now: Int { Int(FileStatus.now / 1_000_000) }

    /// Checks that the folder is writable, and removes the files that a killed recorder or command left there.
    private static func prepare(
        _ folder: URL,
        _ resources: URL,
        removing orphans: [String]
    ) throws(SubstitutionRecorderError) {
        // A running command still needs its temporary files.
        let turn = try? FolderTurn(folder, resources)
        defer { withExtendedLifetime(turn) {} }
        let (map, files) = (WrittenFolder(path: folder.path, role: .map), WrittenFolder(path: resources.path))
        do throws(WrittenFolder.Problem) {
            try map.checkIsWritable()
            try files.checkIsWritable()
        } catch {
            throw SubstitutionRecorderError(.unwritable, folder, "isn't writable: \(error.message)")
        }
        for name in orphans { files.remove(name) }
        for name in [mapName, RecorderFile.name] { map.cancel(name) }
        WrittenFolder(path: folder.path, role: .map, holdsTurn: true).cancel(mapName)
    }

    private static func document(_ file: URL, in folder: URL) throws(SubstitutionRecorderError) -> MapDocument? {
        guard FileStatus(path: file.path) != nil else { return nil }
        do throws(SubstitutionMapError) {
            return try MapDocument(contentsOf: file)
        } catch {
            throw SubstitutionRecorderError(.unreadableMap, folder, "has a map that can't be used; mend it: \(error)")
        }
    }
}
