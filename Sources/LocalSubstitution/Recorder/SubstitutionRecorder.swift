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
    public var mapFile: URL { folder.appendingPathComponent(RecorderMap.name, isDirectory: false) }

    let contents: RecorderFolder
    private let queue = DispatchQueue(label: "LocalSubstitution.recorder", qos: .utility)
    private let state = Guarded(State())

    private struct State: Sendable {
        var isSaveDue = false
        var savedAt: DispatchTime?
        var onProblem: (@Sendable (String) -> Void)?
    }

    /// Changes a response before it is kept, or refuses it by returning `nil`.
    public typealias Redaction = @Sendable (Response) -> Response?

    /// Opens a folder, which is made if there is none.
    ///
    /// - Parameters:
    ///   - folder: The folder for the map and the files.
    ///   - limit: How many bytes the kept files may have together; the oldest are dropped. One of more than a twentieth of it is
    ///     not kept.
    ///   - redacting: Called once for each response that would be kept, before anything of it is written. Return the response,
    ///     perhaps with another body, or `nil` to refuse it; then an earlier copy of its URL goes as well. The client receives
    ///     what the server sent. It's called off the loader's queue, one response at a time, and must not call the recorder. Copies
    ///     that are in the folder already aren't changed.
    /// - Throws: If another recorder has the folder, if its map can't be read or is no JSON object, or if it can't be written.
    public init(
        folder: URL,
        limit: Int = 50_000_000,
        redacting: Redaction? = nil
    ) throws(SubstitutionRecorderError) {
        self.folder = folder
        contents = try RecorderFolder(folder, limit: max(limit, 0), redact: redacting)
    }

    deinit {
        // Here and now: the last reference may go on the queue.
        _ = contents.save()
    }

    /// Writes what is kept, and lets go of the folder, so that another recorder can have it. Nothing is kept from now on, and
    /// nothing answered. A recorder that goes closes by itself.
    public func close() {
        report(contents.close())
    }

    /// Writes at once what is kept: the responses that were delivered so far, and the map.
    ///
    /// If that fails, as on a full disk, it is tried again with the next response.
    public func flush() {
        report(contents.save())
    }

    /// Is told what could not be written, in a sentence; on any thread.
    public var onProblem: (@Sendable (String) -> Void)? {
        get { state.withLock { $0.onProblem } }
        set { state.withLock { $0.onProblem = newValue } }
    }

    private func report(_ problem: String?) {
        if let problem { onProblem?(problem) }
    }

    /// Has everything written soon, on the recorder's queue: the first change almost at once, then several together.
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

    /// Has the bodies written now, on the recorder's queue, and the map later.
    func writeBodiesSoon() {
        queue.async { [weak self] in
            guard let self else { return }
            contents.writeBodies()
            // Not before, since it saves when it goes.
            withExtendedLifetime(self) {}
        }
    }
}
