import Dispatch
public import Foundation
import Guarded
import HTTPSyntax
public import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A recorder that writes the network's responses to a folder: files, and a map that returns them. Use it to respond
/// offline, or to make test fixtures.
///
/// ```swift
/// let recorder = try SubstitutionRecorder(folder: folder)
/// let session = try cache.makeSession(recorder: recorder)
/// ```
///
/// The folder contains a map, `substitutions.json`, and a folder `Substitutes` with the files. If a folder `Resources`
/// already exists, the recorder writes the files there instead. If entries already have files beside the map, the
/// recorder writes its files beside the map, too. You can use the map as it is, and add entries to it. The recorder
/// never changes your entries: a `null` entry excludes URLs from recording, and your own entry for a URL stays.
///
/// Only one recorder at a time can use a folder. Even if a process is killed, the map is valid and each file that it
/// uses is complete.
public final class SubstitutionRecorder: Sendable {
    /// The folder with the map and the files.
    public let folder: URL
    /// The map's file, `substitutions.json`.
    public var mapFile: URL { folder.appendingPathComponent(RecorderFolder.mapName, isDirectory: false) }

    let contents: RecorderFolder
    private let queue = DispatchQueue(label: "LocalSubstitution.recorder", qos: .utility)
    private let state = Guarded(State())

    private struct State: Sendable {
        var isSaveDue = false
        var savedAt: DispatchTime?
        var onProblem: (@Sendable (String) -> Void)?
        var onRecovery: (@Sendable () -> Void)?
        /// Whether a problem was reported, and since then no save has written a response.
        var isFailing = false
        /// Whether the body of a response was written since the last problem.
        var hasWritten = false
    }

    /// Opens a folder, and creates the folder if it doesn't exist.
    ///
    /// - Parameters:
    ///   - folder: The folder for the map and the files.
    ///   - limit: The largest total size of the recorded files, in bytes; 50 MB by default. Beyond the limit, the
    ///     oldest responses are dropped. A response larger than a twentieth of the limit isn't recorded.
    ///   - redact: Changes or excludes each response before it's written: see `LocalSubstitution.RecordedResponse`.
    ///     Excluding a response also drops an earlier recording of the URL. The client still receives what the server
    ///     sent. The recorder calls the closure once for each response that it's about to record, and for one response
    ///     at a time, but not on URLSession's queue. What is already in the folder isn't passed to the closure. The
    ///     closure must not call the recorder. By default, the recorder writes what the server sent.
    /// - Throws: An error if another recorder uses the folder, if the folder's map can't be read or isn't a JSON
    ///   object, or if the folder isn't writable. An existing folder opens even if the disk is full.
    public init(
        folder: URL,
        limit: Int = 50_000_000,
        redacting redact: (@Sendable (inout RecordedResponse) -> Void)? = nil
    ) throws(SubstitutionRecorderError) {
        self.folder = folder
        contents = try RecorderFolder(folder, limit: max(limit, 0), redact: redact)
    }

    deinit {
        // This saves on the current thread, since the recorder's queue itself may release the last reference.
        _ = contents.save()
    }

    /// Writes everything that isn't written yet, and releases the folder so that another recorder can use it.
    ///
    /// A closed recorder records nothing and responds to no requests. A recorder also closes when it's deallocated. But
    /// an attached recorder stays in memory, even after its sessions are invalidated, so close it yourself.
    public func close() {
        reportSave(contents.save(closing: true))
    }

    /// Writes the map and all responses that were delivered so far. Returns when they're written.
    ///
    /// If writing fails, for example because the disk is full, the recorder tries again with the next response. It
    /// reports only the first of several failures to ``onProblem``.
    public func flush() {
        reportSave(contents.save())
    }

    /// A closure that the recorder calls with a message about what it couldn't write; `nil` by default. It's called on
    /// any thread. After a failure, the closure is called again only once the recorder has written a response.
    public var onProblem: (@Sendable (String) -> Void)? {
        get { state.withLock { $0.onProblem } }
        set { state.withLock { $0.onProblem = newValue } }
    }

    /// A closure that the recorder calls on any thread once it has written a response again, after a problem.
    package var onRecovery: (@Sendable () -> Void)? {
        get { state.withLock { $0.onRecovery } }
        set { state.withLock { $0.onRecovery = newValue } }
    }

    private func report(_ problem: Complaint?) {
        guard let problem else { return }
        let isFirst = state.withLock { state in
            defer { (state.isFailing, state.hasWritten) = (true, false) }
            return !state.isFailing
        }
        if isFirst { onProblem?(problem.description) }
    }

    private func reportSave(_ problem: Complaint?) {
        report(problem)
        let hasRecovered = state.withLock { state in
            guard problem == nil, state.isFailing, state.hasWritten else { return false }
            state.isFailing = false
            return true
        }
        if hasRecovered { onRecovery?() }
    }

    /// Saves everything soon, on the recorder's queue: 10 ms from now or 300 ms after the last save, whichever is
    /// later. All changes until then are saved together.
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
            reportSave(contents.save())
        }
    }

    /// Starts writing the bodies on the recorder's queue. The map is written later.
    func writeBodiesSoon() {
        queue.async { [weak self] in
            guard let self else { return }
            report(contents.writeBodies())
            // The recorder stays alive until here, since its deinitializer saves.
            withExtendedLifetime(self) {}
        }
    }
}

/// The functions that sessions call.
extension SubstitutionRecorder: ResponseRecorder {
    /// Returns why the recorder isn't used for a request; `nil` if it is. Then it records the response unless a rule
    /// forbids that, and responds with a recorded one if the network fails. A closed recorder is used for no request.
    ///
    /// For a `HEAD`, the recorder is used only if a recorded response matches. The response to `HEAD` isn't recorded.
    package func refusal(of request: URLRequest) -> Complaint? {
        var get = request
        if request.httpMethod == "HEAD", hasAnswer(to: request) { get.httpMethod = "GET" }
        do throws(Complaint) {
            let url = try RecordingRules.url(of: request)
            if contents.isClosed { throw .closed }
            if let reason = RecordingRules.refusal(of: get, url) { throw reason }
            if let key = contents.foreign.exclusion(of: url) { throw .excluded(key: key) }
            return nil
        } catch {
            return error
        }
    }

    /// Returns the validators with which a request can ask the server whether the recorded response is current. Returns
    /// `nil` if no recorded response has validators that the server sent for this request, if the request already has
    /// `Range` or conditions, or if the response is probably an event stream.
    package func validators(for request: URLRequest) -> Validators? {
        guard let recorded = responses(for: request)?.recorded(for: request.headers),
            let validators = Validators(entityTag: recorded.notes.etag, lastModified: recorded.notes.lastModified),
            !expectsStream(request)
        else { return nil }
        let conditions = Preconditions.headers + ["Range", "If-Range"]
        return request.allHTTPHeaderFields?.contains(headerIn: conditions) == true ? nil : validators
    }

    /// Returns the recorded response for a request's URL or, without one, the answer of an entry that the recorder
    /// didn't write, with its file. Returns `nil` if there's neither. Throws a problem if the file can't be read.
    ///
    /// If the body for the URL isn't written yet, writes it first: an app can request a URL again as soon as it has the
    /// response.
    package func answer(_ request: URLRequest) throws(Complaint) -> (response: CachedURLResponse, file: URL?)? {
        guard let url = Self.url(of: request), let requested = request.url else { return nil }
        report(contents.writeBodies(neededFor: url))
        while true {
            let recorded = recorded(for: request)
            let substitution =
                recorded.map {
                    Substitution($0.written.entry, fileName: $0.notes.file, folder: contents.resources, url: url)
                }
                ?? contents.foreign.substitution(for: url, headers: request.headers)
            guard let substitution else { return nil }
            do throws(Complaint) {
                let file = try substitution.fileName.map { name throws(Complaint) in
                    try FileBytes(opening: name, in: contents.resources)
                }
                let builder = ResponseBuilder(substitution: substitution, file: file, traits: .current)
                let response =
                    if request.httpMethod == "HEAD" {
                        builder.head(for: requested)
                    } else if let range = request.rangeHeader {
                        builder.part(range, for: requested)
                    } else {
                        builder.full(for: requested)
                    }
                return response.map { ($0, substitution.fileURL) }
            } catch {
                // If a newer response has just arrived, the old file may be gone. Then the loop returns the newer
                // response.
                guard let recorded, self.recorded(for: request)?.notes.file != recorded.notes.file else { throw error }
            }
        }
    }

    /// Whether a recorded response or an entry matches a request's URL.
    package func hasAnswer(to request: URLRequest) -> Bool {
        guard let url = Self.url(of: request) else { return false }
        return recorded(for: request) != nil
            || contents.foreign.substitution(for: url, headers: request.headers) != nil
    }

    /// Whether a request accepts an event stream, or the recorded response is one.
    package func expectsStream(_ request: URLRequest) -> Bool {
        if request.value(forHTTPHeaderField: "Accept")?.lowercased().contains(MIMEType.eventStream) == true {
            return true
        }
        return recorded(for: request)?.written.entry.options.fields.rate != nil
    }

    /// Notes that the recorded response is still current. Does nothing if there's none, or if the recorder is closed.
    package func confirm(_ request: URLRequest) {
        guard let url = Self.url(of: request), !contents.isClosed else { return }
        contents.confirm(url, for: request.headers)
        saveSoon()
    }

    /// Records a response if the rules allow it. The response is written soon afterward, on another queue. Ignores a
    /// response to `HEAD`, which has no body.
    ///
    /// Call this before the response is delivered, so that ``flush()`` waits for it.
    ///
    /// - Parameter report: Called with what happened to the response. If a redirect led to the response and is recorded
    ///   as a separate exchange, also called for the redirect.
    package func record(_ exchange: Exchange, report: @escaping @Sendable (Exchange.Report) -> Void) {
        guard exchange.request.httpMethod != "HEAD" else { return }
        // An earlier response stays, since the server sent it without getting this credential.
        if let reason = exchange.credential { return report(.notRecorded(reason)) }
        let isFull = contents.add(exchange.isBrowsed ? exchange.withoutRange : exchange) { [weak self] outcome in
            if case .recorded = outcome { self?.state.withLock { $0.hasWritten = true } }
            report(outcome)
        }
        if isFull { writeBodiesSoon() }
        saveSoon()
    }

    /// Whether the responses that wait to be written take too much memory. If so, call ``writeBodies()`` before
    /// delivering more.
    package var isBehind: Bool { contents.hasTooManyPending }

    /// How many of the folder's responses are new, or have changed since the recorder opened the folder.
    package var newOrChanged: Int { contents.newOrChanged }

    package func writeBodies() { report(contents.writeBodies()) }

    private func responses(for request: URLRequest) -> Representations? {
        Self.url(of: request).flatMap { contents.responses(for: $0) }
    }

    private func recorded(for request: URLRequest) -> RecorderIndex.Response? {
        responses(for: request)?.answer(to: request.headers)
    }

    /// `nil` if the request's URL is missing or invalid.
    private static func url(of request: URLRequest) -> NormalizedURL? { try? RecordingRules.url(of: request) }
}
