import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Keeps responses of one URL: writes their bodies, and makes the entry that serves them. Several responses become its
    /// alternatives.
    ///
    /// - Parameters:
    ///   - responses: At most one for each request, those for a narrower condition first.
    ///   - replacing: Whether to replace an existing entry for the URL.
    /// - Returns: For each, the kept file, or the key of the existing entry that prevented it.
    mutating func keep(
        _ responses: [KeepableResponse],
        for url: NormalizedURL,
        as key: String,
        replacing: Bool
    ) throws(MapToolError) -> [Result<KeptFile, Occupied>] {
        let oldKey = entries.key(of: url)
        let same = responses.map { response in oldKey.flatMap { unchanged(response, for: url, in: $0) } }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing || same.allSatisfy({ $0 != nil }) {
            return same.map { $0.map { .success($0) } ?? .failure(Occupied(key: occupied)) }
        }
        var kept: [Result<KeptFile, Occupied>] = []
        var answers: [AlternativesText.Members] = []
        for (response, same) in zip(responses, same) {
            // The first response's file has the plain name.
            let digest = answers.isEmpty ? nil : response.request.condition.digest(with: response.request.method)
            let name = RecordedFileName(url, type: response.type?.essence, bodyDigest: digest)
            let file = try write(response.body, as: name, over: oldKey)
            let recorded = recorded(response, for: url, in: file)
            answers.append(recorded.members + (response.request.condition.when.map { [("when", $0)] } ?? []))
            let change: KeptFile.Change = same != nil ? .unchanged : occupied == nil ? .new : .replaced
            kept.append(.success(KeptFile(change, file, response.body, recorded.substitution(for: url))))
        }
        if !answers.isEmpty { set(oldKey ?? key, to: AlternativesText.value(of: answers)) }
        return kept
    }

    /// The error if the map has another entry for a URL.
    struct Occupied: Error {
        let key: String
    }

    /// Returns the kept file if an entry already serves this response; otherwise `nil`.
    private func unchanged(_ response: KeepableResponse, for url: NormalizedURL, in key: String) -> KeptFile? {
        let request = response.request
        guard let served = entries.substitution(for: url, method: request.method, body: request.condition.example),
            let file = served.fileName,
            entries.document.files(of: key).contains(file), hasFile(file, response.body)
        else { return nil }
        let new = recorded(response, for: url, in: file).substitution(for: url)
        return isSame(served, new, response.body) ? KeptFile(.unchanged, file, response.body, served) : nil
    }

    /// Writes a body and returns its file's name. Of the entry that it replaces, uses a file that already has this body or may be
    /// overwritten.
    private mutating func write(
        _ body: Data,
        as name: RecordedFileName,
        over oldKey: String?
    ) throws(MapToolError) -> String {
        let own = oldKey.map { entries.document.files(of: $0) } ?? []
        if let file = own.first(where: { !isTaken($0) && hasFile($0, body) }) {
            markTaken(file)
            return file
        }
        guard let file = own.first(where: isOnlyUse) else { return try write(body, as: name) }
        markTaken(file)
        try write(body, to: file)
        return file
    }

    private func recorded(_ response: KeepableResponse, for url: NormalizedURL, in file: String) -> RecordedEntry {
        RecordedEntry(
            methods: [response.request.method],
            status: response.status,
            headers: response.headers,
            type: response.type,
            body: response.body,
            url: url,
            file: file,
            defaults: entries.defaults
        )
    }

    /// Returns whether an entry has the type, status and headers of another one for the same bytes, and at least its methods. The
    /// conditions and the spelling don't matter.
    private func isSame(_ one: Substitution, _ other: Substitution, _ body: Data) -> Bool {
        // `Content-Type` is compared as it is served.
        var headers = (one.headers, other.headers)
        headers.0[header: "Content-Type"] = nil
        headers.1[header: "Content-Type"] = nil
        return one.status == other.status && other.methods.allSatisfy(one.methods.contains)
            && headers.0.count == headers.1.count
            && headers.0.allSatisfy { headers.1[header: $0.key] == $0.value }
            && one.contentType(ofBody: body) == other.contentType(ofBody: body)
    }
}

extension NotKept {
    /// The key of the entry that keeps a URL from being recorded; `nil` for another reason.
    var key: String? {
        switch self {
        case .entry(let key), .excluded(let key): key
        default: nil
        }
    }
}
