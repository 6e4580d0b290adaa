import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Newer copies of files from the network, for entries with `"use": "untilUpdated"`.
///
/// An entry's file answers at once. In the background, the network is asked for a newer copy, at most once an hour for
/// each URL. The time of the last question isn't kept on disk, so a new process may ask sooner. Copies are stored in
/// the default cache.
final class NewerCopies: Sendable {
    /// A question to the network: whether there's a newer copy of an entry's file for a URL.
    final class Question: Sendable {
        /// The URL in canonical form.
        let url: String
        /// The URL as it was requested.
        let requested: URL
        let key: String
        let fileName: String
        let folder: ResourcesFolder

        init(url: String, requested: URL, key: String, fileName: String, folder: ResourcesFolder) {
            (self.url, self.requested, self.key) = (url, requested, key)
            (self.fileName, self.folder) = (fileName, folder)
        }

        /// A plain `GET` for the URL. Leaves out the fragment, which is never sent.
        fileprivate var request: URLRequest? {
            let text = requested.absoluteString.prefix { $0 != "#" }
            return URL(string: String(text)).map { URLRequest(url: $0, cachePolicy: .reloadIgnoringLocalCacheData) }
        }

        /// Throws an error if a response's status, `Cache-Control`, `Vary` or type shows that it can't answer later
        /// requests for the URL.
        fileprivate func check(_ response: HTTPURLResponse) throws(Failure) {
            guard response.statusCode == 200 else {
                throw Failure(reason: "the server answered with status \(response.statusCode)")
            }
            if let value = response.value(forHTTPHeaderField: "Cache-Control"),
                LoaderRules.directives(value)["no-store"] != nil
            {
                throw Failure(reason: "the server's Cache-Control says “no-store”")
            }
            if response.value(forHTTPHeaderField: "Vary")?.contains("*") == true {
                throw Failure(reason: "the server's Vary says “*”")
            }
            // Captive portals answer every request with a login page.
            let expected = MIMEType.fileExtension(of: fileName).flatMap { MIMEType.guess(forExtension: $0) }
            if let expected, !expected.contains("html"), response.mimeType?.lowercased() == "text/html" {
                throw Failure(reason: "the server sent text/html, but the file is \(expected)")
            }
        }
    }

    /// The answer to a question: the file, or the copy that replaces it.
    struct Answer: Sendable {
        /// The bytes of the file or copy.
        let bytes: FileBytes
        /// The copy's facts; `nil` if the file answers.
        let copy: NewerCopy.Facts?
        /// The name under which ``RetainedResponses`` holds the copy's bytes; `nil` if the file answers.
        let place: String?
        /// The state of the URL's record when the answer was made. It tells whether the answer has expired.
        let stamp: RefreshSchedule.Record.Stamp
    }

    /// Why no newer copy was stored. The reason is readable and has no period.
    struct Failure: Error {
        let reason: String
    }

    let schedule = RefreshSchedule()
    private let defaultCache: DefaultCache
    /// Holds the bytes of files, and of the copies that replace them.
    private let files: RetainedResponses
    private let observers: Observers

    init(in defaultCache: DefaultCache, files: RetainedResponses, observers: Observers) {
        self.defaultCache = defaultCache
        self.files = files
        self.observers = observers
    }

    // MARK: Answering

    /// Returns the answer to a question: a file that was just read, or the copy that replaces it.
    ///
    /// If the URL is due, also asks the network in the background. May search the default cache, which may read from disk.
    func answer(_ question: Question, file: FileBytes) -> Answer {
        let record = schedule.record(for: question.url)
        let stamp = record.stamp
        let found = newerCopy(of: question.url, insteadOf: file, stamp)
        schedule.ask(for: question.url, record) { [weak self] done in
            guard let self else { return done() }
            ask(question, done)
        }
        return Answer(
            bytes: found?.bytes ?? file,
            copy: found?.facts,
            place: found.map { Self.place(of: $0.facts, question.url) },
            stamp: stamp
        )
    }

    /// Returns whether ``answer(_:file:)`` would find everything in memory.
    func isAtHand(_ url: String, file: FileBytes) -> Bool {
        switch schedule.knownRecord(for: url)?.copy {
        case .absent?: return true
        case .unknown?, nil: return false
        case .kept(let facts)?: return file.isDigested && files.heldFile(at: Self.place(of: facts, url)) != nil
        }
    }

    /// Returns the copy that replaces a file for a URL; `nil` if the file answers. Changes nothing.
    func explainedCopy(of url: String, fileName: String, in folder: ResourcesFolder) -> NewerCopy.Facts? {
        guard let copy = storedCopy(of: url) else { return nil }
        let file = files.currentFile(at: folder.path(of: fileName)) ?? (try? FileBytes(opening: fileName, in: folder))
        return file.map(copy.facts.standsFor) == true ? copy.facts : nil
    }

    private func newerCopy(
        of url: String,
        insteadOf file: FileBytes,
        _ stamp: RefreshSchedule.Record.Stamp
    ) -> (facts: NewerCopy.Facts, bytes: FileBytes)? {
        switch stamp.record.copy {
        case .absent: return nil
        case .unknown: break
        case .kept(let facts):
            guard facts.standsFor(file) else {
                removeOutdatedCopy(of: url, stamp)
                return nil
            }
            if let bytes = heldCopy(facts, of: url, insteadOf: file) { return (facts, bytes) }
        }
        let copy = storedCopy(of: url)
        stamp.record.learn(copy.map { .kept($0.facts) } ?? .absent, at: stamp)
        guard let copy else { return nil }
        guard copy.facts.standsFor(file) else {
            removeOutdatedCopy(of: url, stamp)
            return nil
        }
        return (copy.facts, hold(copy.data, copy.facts, of: url, insteadOf: file))
    }

    // MARK: Removing

    /// Removes the copy for a URL.
    func removeCopy(of url: String) {
        // Before the change: a lookup that still finds the copy in the default cache then has an older stamp, so its
        // response expires.
        if let request = NewerCopy.request(for: url) { defaultCache.remove(under: request) }
        release(schedule.knownRecord(for: url)?.change(to: .absent), of: url)
    }

    /// Removes a copy that no longer replaces the file, unless another copy has arrived since the stamp.
    private func removeOutdatedCopy(of url: String, _ stamp: RefreshSchedule.Record.Stamp) {
        guard let facts = stamp.record.change(to: .absent, unlessSince: stamp) else { return }
        release(facts, of: url)
        if let request = NewerCopy.request(for: url) { defaultCache.remove(under: request) }
    }

    /// Forgets every copy. Call this after the default cache has removed its responses.
    func removeAll() { schedule.removeAll() }

    // MARK: Copies in memory

    /// Returns the name under which a copy's bytes are held. The name begins with a URL, so it's never a file's path.
    private static func place(of facts: NewerCopy.Facts, _ url: String) -> String { "\(url) \(facts.digest)" }

    private func heldCopy(_ facts: NewerCopy.Facts, of url: String, insteadOf file: FileBytes) -> FileBytes? {
        guard let held = files.heldFile(at: Self.place(of: facts, url)) else { return nil }
        guard held.status == file.status else { return hold(held.data, facts, of: url, insteadOf: file) }
        held.confirm(by: file)
        return held
    }

    private func hold(
        _ data: Data,
        _ facts: NewerCopy.Facts,
        of url: String,
        insteadOf file: FileBytes
    ) -> FileBytes {
        let bytes = FileBytes(data, insteadOf: file)
        files.hold(bytes, at: Self.place(of: facts, url))
        return bytes
    }

    private func release(_ facts: NewerCopy.Facts?, of url: String) {
        if let facts { files.release(Self.place(of: facts, url)) }
    }

    private func storedCopy(of url: String) -> NewerCopy? {
        NewerCopy.request(for: url).flatMap(defaultCache.response(under:)).flatMap { NewerCopy($0) }
    }
}

// MARK: - Asking the network

extension NewerCopies {
    private func ask(_ question: Question, _ done: @escaping @Sendable () -> Void) {
        // If no cache lends its storage, a copy couldn't be stored.
        guard defaultCache.isLent, var request = question.request else { return done() }
        let known = storedCopy(of: question.url)
        known?.facts.validators?.makeConditional(&request)
        schedule.loader.load(request, limit: defaultCache.capacity) { [weak self] outcome in
            // Continues elsewhere, so that the session's queue is free for other loads.
            DispatchQueue.global(qos: .utility).async { [weak self] in
                guard let self else { return done() }
                let (url, key) = (question.requested, question.key)
                do throws(Failure) {
                    let bytes = try take(outcome, for: question, isConditional: known?.facts.validators != nil)
                    // Called first, since a listener may ask again when it receives the event.
                    done()
                    observers.report(bytes == nil ? .upToDate : .refreshed, url, key: key, bytes: bytes)
                } catch {
                    done()
                    observers.report(.refreshFailed, url, key: key, reason: error.reason)
                }
            }
        }
    }

    /// Stores the network's response if it's a newer copy. Returns the copy's size in bytes; `nil` if there's no newer
    /// copy.
    private func take(
        _ outcome: UncachedLoader.Outcome,
        for question: Question,
        isConditional: Bool
    ) throws(Failure) -> Int? {
        switch outcome {
        case .failed(let reason):
            throw Failure(reason: reason)
        case .tooLong:
            throw Failure(
                reason:
                    "the response has more than \(defaultCache.capacity.grouped) bytes, the default cache's capacity; raise "
                    + "its diskCapacity"
            )
        case .answer(let response, _) where response.statusCode == 304 && isConditional:
            return nil
        case .answer(let response, let data):
            try question.check(response)
            return try store(data, response, for: question) ? data.count : nil
        }
    }

    /// Stores a response if it differs from the file and from the stored copy. Returns whether it's a newer copy.
    private func store(
        _ data: Data,
        _ response: HTTPURLResponse,
        for question: Question
    ) throws(Failure) -> Bool {
        let file: FileBytes
        do throws(FileProblem) {
            file = try files.file(question.fileName, in: question.folder)
        } catch {
            throw Failure(reason: "the entry's file \(error.fragment)")
        }
        let known = storedCopy(of: question.url)
        let record = schedule.record(for: question.url)
        if data == file.data {
            if known != nil || record.copy.facts != nil { removeCopy(of: question.url) }
            return false
        }
        let copy = NewerCopy(data, response, insteadOf: file)
        if copy.facts != known?.facts {
            // Also stores the same bytes with a new validator.
            try store(copy, insteadOf: known, question.url, record)
        } else if record.copy.facts == copy.facts {
            return false
        }
        // Changes the record even if a lookup has already found the copy, since other responses were made before the
        // copy was stored.
        release(record.change(to: .kept(copy.facts)), of: question.url)
        return known.map { $0.facts.digest != copy.facts.digest || !$0.facts.standsFor(file) } ?? true
    }

    private func store(
        _ copy: NewerCopy,
        insteadOf known: NewerCopy?,
        _ url: String,
        _ record: RefreshSchedule.Record
    ) throws(Failure) {
        guard let request = NewerCopy.request(for: url) else { return }
        if let stored = copy.stored { defaultCache.store(stored, under: request) }
        guard storedCopy(of: url)?.facts != copy.facts else { return }
        // `URLCache` removes the older copy even if it refuses the new one as too large, so the older one is stored again.
        if let stored = known?.stored {
            defaultCache.store(stored, under: request)
        } else {
            release(record.change(to: .unknown), of: url)
        }
        throw Failure(
            reason: "the default cache didn't store the \(copy.data.count.grouped) bytes; raise its diskCapacity"
        )
    }
}
