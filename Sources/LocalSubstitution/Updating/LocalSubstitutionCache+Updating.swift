import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What answers for an `untilUpdated` entry: the file, or the newer copy that stands for it.
struct Freshest: Sendable {
    /// The file's, or the copy's.
    let bytes: FileBytes
    /// `nil` where the file answers.
    let copy: NewerCopy.Facts?
    /// Where the bytes are held, if they are the copy's.
    let place: String?
    let stamp: UpdateRecord.Stamp
}

/// Newer copies of files from the network: `untilUpdated`.
///
/// The file answers at once. In the background, once an hour for each URL, the network is asked for it. When the network was
/// asked is not kept on disk, so a new process may ask once more.
extension LocalSubstitutionCache {
    /// What answers a request instead of a file that was just read; `nil` where it is the file, and always will be.
    ///
    /// It has the network asked if it is time. It may look into the default cache, and so on disk.
    func freshest(_ lookup: Lookup, _ substitution: Substitution, _ file: FileBytes?) -> Freshest? {
        guard let file, let name = substitution.fileName, let folder = lookup.folder,
            let requested = lookup.request.url,
            let url = updatedURL(lookup, substitution)
        else { return nil }
        let record = updates.record(for: url)
        let stamp = record.stamp
        let found = newerCopy(of: url, insteadOf: file, stamp)
        let refresh = Refresh(url: url, requested: requested, key: substitution.key, fileName: name, folder: folder)
        updates.ask(for: url, record) { [weak self] done in
            guard let self else { return done() }
            ask(refresh, done)
        }
        return Freshest(
            bytes: found?.bytes ?? file,
            copy: found?.facts,
            place: found.map { Self.place(of: $0.facts, url) },
            stamp: stamp
        )
    }

    /// Whether ``freshest(_:_:_:)`` would take nothing that is not in memory.
    func knowsFreshest(_ lookup: Lookup, _ substitution: Substitution, _ file: FileBytes) -> Bool {
        guard let url = updatedURL(lookup, substitution) else { return true }
        switch updates.knownRecord(for: url)?.copy {
        case .absent?: return true
        case .unknown?, nil: return false
        case .kept(let facts)?:
            return file.isDigested && state.withLock { $0.retention.file(at: Self.place(of: facts, url)) } != nil
        }
    }

    /// The URL for which the network is asked, in the form in which equal ones are the same.
    private func updatedURL(_ lookup: Lookup, _ substitution: Substitution) -> String? {
        guard substitution.use == .untilUpdated, ["GET", "HEAD"].contains(lookup.request.httpMethod ?? "GET"),
            !isStrict
        else { return nil }
        return lookup.decision.match?.url.canonical
    }

    private func newerCopy(
        of url: String,
        insteadOf file: FileBytes,
        _ stamp: UpdateRecord.Stamp
    ) -> (facts: NewerCopy.Facts, bytes: FileBytes)? {
        switch stamp.record.copy {
        case .absent: return nil
        case .unknown: break
        case .kept(let facts):
            guard facts.standsFor(file) else {
                dropCopy(of: url, stamp)
                return nil
            }
            if let bytes = heldCopy(facts, of: url, insteadOf: file) { return (facts, bytes) }
        }
        guard let copy = storedCopy(of: url) else {
            stamp.record.learn(.absent, at: stamp)
            return nil
        }
        stamp.record.learn(.kept(copy.facts), at: stamp)
        guard copy.facts.standsFor(file) else {
            dropCopy(of: url, stamp)
            return nil
        }
        return (copy.facts, hold(copy.data, copy.facts, of: url, insteadOf: file))
    }

    /// What answers for a URL by the map as it is now, if it is a newer copy. It changes nothing.
    func explainedCopy(_ decision: Decision, in map: SubstitutionMap) -> NewerCopy.Facts? {
        guard decision.verdict == .substituted, let match = decision.match, let substitution = match.substitution,
            substitution.use == .untilUpdated, let name = substitution.fileName, let folder = map.storage.folder,
            let copy = storedCopy(of: match.url.canonical),
            let file = heldFile(at: folder.path(of: name)) ?? (try? FileBytes(opening: name, in: folder)),
            copy.facts.standsFor(file)
        else { return nil }
        return copy.facts
    }

    // MARK: Copies in memory

    /// It is no path, so no file is ever held there.
    private static func place(of facts: NewerCopy.Facts, _ url: String) -> String { "\(url) \(facts.digest)" }

    private func heldCopy(_ facts: NewerCopy.Facts, of url: String, insteadOf file: FileBytes) -> FileBytes? {
        guard let held = state.withLock({ $0.retention.file(at: Self.place(of: facts, url)) }) else { return nil }
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
        state.withLock { state in
            for url in state.retention.hold(bytes, at: Self.place(of: facts, url)) { retained.remove(url) }
        }
        return bytes
    }

    private func release(_ facts: NewerCopy.Facts?, of url: String) {
        guard let facts else { return }
        state.withLock { state in
            for url in state.retention.drop(Self.place(of: facts, url)) { retained.remove(url) }
        }
    }

    // MARK: Copies in the default cache

    private func storedCopy(of url: String) -> NewerCopy? {
        NewerCopy.request(for: url).flatMap(defaultResponse(under:)).flatMap { NewerCopy($0) }
    }

    /// Drops a copy that does not stand for the file any more, unless another has come since.
    private func dropCopy(of url: String, _ stamp: UpdateRecord.Stamp) {
        guard let facts = stamp.record.change(to: .absent, unlessSince: stamp) else { return }
        release(facts, of: url)
        if let request = NewerCopy.request(for: url) { defaultRemove(under: request) }
    }

    private func removeCopy(of url: String) {
        if let request = NewerCopy.request(for: url) { defaultRemove(under: request) }
        release(updates.knownRecord(for: url)?.change(to: .absent), of: url)
    }

    /// Drops the newer copy of a request's URL, if its entry is one that has them.
    func removeCopy(for match: MapMatch?) {
        guard let match, match.substitution?.use == .untilUpdated else { return }
        removeCopy(of: match.url.canonical)
    }

    // MARK: Asking the network

    private func ask(_ refresh: Refresh, _ done: @escaping @Sendable () -> Void) {
        guard var request = refresh.request else { return done() }
        let known = storedCopy(of: refresh.url)
        known?.facts.validators?.makeConditional(&request)
        updates.refresher.load(request, limit: responseLimit) { [weak self] outcome in
            // Off the session's queue, which is needed for what else is loaded.
            DispatchQueue.global(qos: .utility).async { [weak self] in
                let event = self?.event(after: outcome, of: refresh, isConditional: known?.facts.validators != nil)
                // Before anybody hears of it and asks again.
                done()
                if let event { self?.emit(event) }
            }
        }
    }

    /// The longest response that the default cache accepts, in bytes.
    private var responseLimit: Int { max(memoryCapacity, diskCapacity) }

    /// Does what an answer calls for, and gives what is to be told of it.
    private func event(after outcome: Refresher.Outcome, of refresh: Refresh, isConditional: Bool) -> Event {
        do throws(Refresh.Failure) {
            switch outcome {
            case .failed(let reason):
                throw Refresh.Failure(reason: reason)
            case .tooLong:
                throw Refresh.Failure(
                    reason:
                        "the response has more than \(responseLimit) bytes, the default cache's capacity: raise its "
                        + "diskCapacity"
                )
            case .answer(let response, _) where response.statusCode == 304 && isConditional:
                return .upToDate(refresh.requested, key: refresh.key)
            case .answer(let response, let data):
                try refresh.check(response)
                guard try keep(data, response, of: refresh) else {
                    return .upToDate(refresh.requested, key: refresh.key)
                }
                state.withLock { $0.statistics.refreshed += 1 }
                return .refreshed(refresh.requested, key: refresh.key, bytes: data.count)
            }
        } catch {
            return .refreshFailed(refresh.requested, key: refresh.key, reason: error.reason)
        }
    }

    /// Keeps what the server gave, if it is neither what the file has nor what is kept already; gives whether it is news.
    private func keep(
        _ data: Data,
        _ response: HTTPURLResponse,
        of refresh: Refresh
    ) throws(Refresh.Failure) -> Bool {
        let file: FileBytes
        do throws(FileProblem) {
            file = try read(refresh.fileName, in: refresh.folder)
        } catch {
            throw Refresh.Failure(reason: "the entry's file \(error.message)")
        }
        let known = storedCopy(of: refresh.url)
        let record = updates.record(for: refresh.url)
        if data == file.data {
            if known != nil || record.copy.facts != nil { removeCopy(of: refresh.url) }
            return false
        }
        let copy = NewerCopy(data, response, insteadOf: file)
        if copy.facts != known?.facts {
            // The same bytes may come with another validator.
            try store(copy, insteadOf: known, refresh.url, record)
        } else if record.copy.facts == copy.facts {
            return false
        }
        // Also where a lookup has found the copy by now: others were answered before it was there.
        release(record.change(to: .kept(copy.facts)), of: refresh.url)
        return known.map { $0.facts.digest != copy.facts.digest || !$0.facts.standsFor(file) } ?? true
    }

    private func store(
        _ copy: NewerCopy,
        insteadOf known: NewerCopy?,
        _ url: String,
        _ record: UpdateRecord
    ) throws(Refresh.Failure) {
        guard let request = NewerCopy.request(for: url) else { return }
        if let stored = copy.stored { defaultStore(stored, under: request) }
        guard storedCopy(of: url)?.facts != copy.facts else { return }
        // What is too large for it has taken the older copy's place all the same.
        if let stored = known?.stored {
            defaultStore(stored, under: request)
        } else {
            release(record.change(to: .unknown), of: url)
        }
        throw Refresh.Failure(reason: "the default cache has not taken the \(copy.data.count) bytes")
    }
}
