import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Keeps the exchanges of one URL: writes their bodies, and creates the entry that serves them. Several exchanges
    /// become the entry's alternatives.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges, with narrower conditions first. Several exchanges for one request
    ///     answer in their order.
    ///   - key: The key of the new entry. An existing entry keeps its key.
    ///   - replacing: Whether to replace an existing entry for the URL.
    /// - Returns: For each exchange, the kept file, or the key of the existing entry that wasn't replaced.
    mutating func keep(
        _ exchanges: [RecordedExchange],
        for url: NormalizedURL,
        as key: String,
        replacing: Bool
    ) throws(MapToolError) -> [Result<KeptFile, Occupied>] {
        let oldKey = entries.key(of: url)
        let same = exchanges.map { exchange in oldKey.flatMap { unchanged(exchange, for: url, in: $0) } }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing || same.allSatisfy({ $0 != nil }) {
            return same.map { $0.map { .success($0) } ?? .failure(Occupied(key: occupied)) }
        }
        // A piece of a stream isn't a body, so its file is never overwritten.
        let own = oldKey.map { entries.document.files(of: $0, withPieces: false) } ?? []
        var kept: [Result<KeptFile, Occupied>] = []
        var answers: [EntryText.Members] = []
        var bodies: WrittenBodies = [:]
        for (exchange, same) in zip(exchanges, same) {
            // The first response's file gets the URL's plain name.
            let name = exchange.fileName(for: url, distinguishing: answers.isEmpty ? nil : exchange.request)
            let file = try write(exchange, as: name, over: own, unlessIn: &bodies)
            let entry = exchange.entry(for: url, file: file, defaults: entries.defaults)
            answers.append(entry.members + exchange.conditions)
            let change: KeptFile.Change = same != nil ? .unchanged : occupied == nil ? .new : .replaced
            let served = entry.substitution(for: url)
            kept.append(.success(KeptFile(change, file, of: exchange.response.body, servedAs: served)))
        }
        if !answers.isEmpty { set(oldKey ?? key, to: EntryText.value(of: answers)) }
        return kept
    }

    /// The error if the map already has an entry for a URL.
    struct Occupied: Error {
        let key: String
    }

    /// Returns the kept file if the entry with the given key already serves this response; otherwise, `nil`.
    private func unchanged(_ exchange: RecordedExchange, for url: NormalizedURL, in key: String) -> KeptFile? {
        let (request, body) = (exchange.request, exchange.response.body)
        guard
            let served = entries.substitution(
                for: url,
                method: request.method,
                body: request.condition.example.map { Data($0.utf8) },
                after: exchange.after
            ), let file = served.fileName,
            entries.document.files(of: key).contains(file), hasFile(file, body)
        else { return nil }
        let new = exchange.entry(for: url, file: file, defaults: entries.defaults).substitution(for: url)
        return isSame(served, new, body) ? KeptFile(.unchanged, file, of: body, servedAs: served) : nil
    }

    /// Returns whether two entries serve a body with the same type, status and headers. The first entry must also
    /// answer all methods of the second. Conditions, and how the map spells the entries, don't matter.
    private func isSame(_ one: Substitution, _ other: Substitution, _ body: Data) -> Bool {
        // `Content-Type` is compared below, as it's served.
        var headers = (one.headers, other.headers)
        headers.0[header: "Content-Type"] = nil
        headers.1[header: "Content-Type"] = nil
        return one.status == other.status && other.methods.allSatisfy(one.methods.contains)
            && headers.0.count == headers.1.count
            && headers.0.allSatisfy { headers.1[header: $0.key] == $0.value }
            && one.contentType(ofBody: body) == other.contentType(ofBody: body)
    }
}

extension EditedMap {
    /// The file of a response that a map keeps.
    package struct KeptFile: Sendable, Hashable {
        package enum Change: String, Sendable, Hashable {
            case new, replaced, unchanged
        }

        package let change: Change
        /// The file's name in the resources folder.
        package let name: String
        package let bytes: Int
        /// The `Content-Type` that the file is served with.
        package let contentType: String

        init(_ change: Change, _ name: String, of body: Data, servedAs substitution: Substitution) {
            (self.change, self.name, bytes) = (change, name, body.count)
            contentType = substitution.contentType(ofBody: body)
        }
    }
}
