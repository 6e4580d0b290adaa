import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension SubstitutionRecorder {
    /// Writes a body that may be kept, unless it is there, and its entry into the index.
    func write(
        _ response: HTTPURLResponse,
        _ body: Data,
        _ url: NormalizedURL,
        wasRedirected: Bool,
        _ defaults: EntryFields
    ) -> Keeping.Outcome {
        let key = url.canonical
        let digest = Digest.hexadecimal(of: body)
        let old = state.withLock { $0.index.kept[key] }
        let isThere = old.map { $0.digest == digest && $0.bytes == body.count && hasFile($0) } ?? false
        if isThere, let old {
            let new = kept(response, body, url, file: old.file, digest, wasRedirected, defaults)
            let isDone = state.withLock { state in
                guard state.index.kept[key]?.file == old.file else { return false }
                state.index.put(new, for: key, now: Self.now)
                return true
            }
            if isDone {
                saveSoon()
                return .unchanged
            }
        }
        let work = "\(key) \(digest)"
        guard state.withLock({ $0.index.inFlight.insert(work).inserted }) else { return .unchanged }
        defer { state.withLock { _ = $0.index.inFlight.remove(work) } }

        let type = response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) }?.essence
        let file = freeName(RecordedFileName(url, type: type, bodyDigest: old == nil ? nil : digest))
        do throws(WrittenFolder.Problem) {
            try journal.begin([file])
            try WrittenFolder(path: resources.path).write(body, to: file)
        } catch {
            WrittenFolder(path: resources.path).remove(file)
            state.withLock { $0.index.names.release(file) }
            journal.settle([file])
            // What is kept stays: it was right when it was kept, and has its own validator.
            return .notKept(.unwritable(error.message))
        }
        let new = kept(response, body, url, file: file, digest, wasRedirected, defaults)
        let limit = limit
        state.withLock { state in
            state.index.put(new, for: key, now: Self.now)
            state.index.trim(to: limit, sparing: key)
        }
        saveSoon()
        return .kept(file: resources.url(of: file), bytes: body.count)
    }

    /// A name that nothing in the folder has, also nothing that somebody put there meanwhile.
    private func freeName(_ name: RecordedFileName) -> String {
        var number = 0
        while true {
            let candidate = name.candidate(number)
            number += 1
            guard let taken = state.withLock({ $0.index.names.take(candidate) }) else { continue }
            if !WrittenFolder(path: resources.path).contains(taken) { return taken }
        }
    }

    private func hasFile(_ kept: KeptResponse) -> Bool {
        let status = FileStatus(path: resources.path(of: kept.file))
        return status?.kind == .regular && status?.size == kept.bytes
    }

    private func kept(
        _ response: HTTPURLResponse,
        _ body: Data,
        _ url: NormalizedURL,
        file: String,
        _ digest: String,
        _ wasRedirected: Bool,
        _ defaults: EntryFields
    ) -> KeptResponse {
        let recorded = RecordedEntry(response, body: body, url: url, file: file, defaults: defaults)
        func validator(_ name: String) -> String? {
            response.value(forHTTPHeaderField: name).flatMap {
                HTTPSyntax.problem(ofHeader: name, value: $0) == nil ? $0 : nil
            }
        }
        return KeptResponse(
            entry: recorded.entry,
            text: recorded.text,
            file: file,
            bytes: body.count,
            digest: digest,
            entityTag: wasRedirected ? nil : validator("ETag"),
            lastModified: wasRedirected ? nil : validator("Last-Modified"),
            isRedirected: wasRedirected
        )
    }
}
