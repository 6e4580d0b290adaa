import Dispatch
public import Foundation
import Guarded

/// Keeps responses from the network as files in a folder, with a map that serves them: for use without a network, and as fixtures
/// of tests.
///
/// The folder contains a map, `substitutions.json`, and the files in `Resources`. You can use the map as it is. The recorder never
/// changes what you write into it: a `null` entry excludes URLs from recording, and an entry of your own for a URL stays. Only one
/// recorder at a time can use a folder. However a process ends, the map is valid and each file that it names is whole.
public final class SubstitutionRecorder: Sendable {
    /// The folder with the map and the files.
    public let folder: URL
    /// The map, `substitutions.json`.
    public var mapFile: URL { folder.appendingPathComponent(RecorderMap.name, isDirectory: false) }

    let contents: RecorderFolder
    private let queue = DispatchQueue(label: "LocalSubstitution.recorder", qos: .utility)
    private let state = Guarded(State())

    private struct State: Sendable {
        var isSaveDue = false
        var savedAt: DispatchTime?
        var onProblem: (@Sendable (String) -> Void)?
    }

    /// Changes a response before it's kept, or refuses it by returning `nil`.
    public typealias Redaction = @Sendable (Response) -> Response?

    /// Opens a folder. Creates it if it doesn't exist.
    ///
    /// - Parameters:
    ///   - folder: The folder for the map and the files.
    ///   - limit: The largest total size of the kept files, in bytes; 50 MB by default. The oldest responses are dropped to stay
    ///     within it. A response larger than a twentieth of the limit isn't kept.
    ///   - redacting: Called once for each response that would be kept, before any of it is written. Return the response, perhaps
    ///     with another body. Return `nil` to refuse it; an earlier copy for the URL is then dropped, too. The client still
    ///     receives what the server sent. The closure is called off the loader's queue, for one response at a time, and must not
    ///     call the recorder. It isn't called for copies that are already in the folder.
    /// - Throws: An error if another recorder uses the folder, if the folder's map can't be read or isn't a JSON object, or if the
    ///   folder isn't writable.
    public init(
        folder: URL,
        limit: Int = 50_000_000,
        redacting: Redaction? = nil
    ) throws(SubstitutionRecorderError) {
        self.folder = folder
        contents = try RecorderFolder(folder, limit: max(limit, 0), redact: redacting)
    }

    deinit {
        // Saved here, since the queue may be where the last reference is released.
        _ = contents.save()
    }

    /// Writes everything that is kept, and releases the folder so that another recorder can use it. From now on, the recorder keeps
    /// no responses and doesn't answer. A recorder also closes when it's deallocated.
    public func close() {
        report(contents.close())
    }

    /// Writes everything that is kept at once: the responses that were delivered so far, and the map.
    ///
    /// If that fails, for example because the disk is full, the recorder tries again with the next response.
    public func flush() {
        report(contents.save())
    }

    /// A closure that is called on any thread with a sentence about what couldn't be written.
    public var onProblem: (@Sendable (String) -> Void)? {
        get { state.withLock { $0.onProblem } }
        set { state.withLock { $0.onProblem = newValue } }
    }

    private func report(_ problem: String?) {
        if let problem { onProblem?(problem) }
    }

    /// Saves everything soon, on the recorder's queue: the first change almost at once, and later ones together.
    func saveSoon() {
        let now = DispatchTime.now()
        let time: DispatchTime? = state.withLock { state in
            guard !state.isSaveDue else { return nil }
            state.isSaveDue = true
            return max(now + .milliseconds(10), state.savedAt.map { $0 + .milliseconds(300) } ?? now)
        }
        guard let time else { return }
        queue.asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                state.isSaveDue = false
                state.savedAt = .now()
            }
            report(contents.save())
        }
    }

    /// Writes the bodies now, on the recorder's queue. The map is written later.
    func writeBodiesSoon() {
        queue.async { [weak self] in
            guard let self else { return }
            contents.writeBodies()
            // Kept alive until now, since its deinitializer saves.
            withExtendedLifetime(self) {}
        }
    }
}
