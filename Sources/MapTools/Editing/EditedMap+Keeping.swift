import Foundation
import LocalSubstitution

extension EditedMap {
    /// Keeps a response: writes its body, and makes the entry that serves it.
    ///
    /// - Parameter replacing: Whether an entry for the URL that is there already gives way.
    /// - Returns: Also what became of the entry; or the key of the one for which it is not kept.
    mutating func keep(
        _ response: KeepableResponse,
        for url: NormalizedURL,
        as key: String,
        replacing: Bool
    ) throws(MapEditError) -> Result<KeptFile, Occupied> {
        let oldKey = entries.key(of: url)
        let oldFile = oldKey.flatMap { entries.document.fields(of: $0)?.file }
        let isThere = oldFile.map { hasFile($0, response.body) } ?? false
        if let oldFile, isThere, let served = entries.substitution(for: url) {
            let new = recorded(response, for: url, in: oldFile).substitution(for: url)
            if isSame(served, new, response.body) { return .success(kept(.unchanged, oldFile, response, served)) }
        }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing { return .failure(Occupied(key: occupied)) }
        let file: String
        if let oldFile, isThere {
            file = oldFile
        } else if let oldFile, isOnlyUse(oldFile) {
            file = oldFile
            try write(response.body, to: oldFile)
        } else {
            file = try write(response.body, as: RecordedFileName(url, type: response.type?.essence))
        }
        let recorded = recorded(response, for: url, in: file)
        set(oldKey ?? key, to: recorded.text)
        let served = recorded.substitution(for: url)
        return .success(kept(occupied == nil ? .new : .replaced, file, response, served))
    }

    /// That a map has another entry for a URL.
    struct Occupied: Error {
        let key: String
    }

    private func recorded(_ response: KeepableResponse, for url: NormalizedURL, in file: String) -> RecordedEntry {
        RecordedEntry(
            status: response.status,
            headers: response.headers,
            type: response.type,
            body: response.body,
            url: url,
            file: file,
            defaults: entries.defaults
        )
    }

    /// Whether two entries for the same bytes answer alike: with the same type, status and headers. When they do, and how a person
    /// has written it, does not count.
    private func isSame(_ one: Substitution, _ other: Substitution, _ body: Data) -> Bool {
        func headers(_ substitution: Substitution) -> [String: String] {
            // `Content-Type` is compared as it is served.
            Dictionary(
                substitution.headers.map { (MIMEType.asciiLowercased($0.key), $0.value) },
                uniquingKeysWith: { first, _ in first }
            ).filter { $0.key != "content-type" }
        }
        return one.status == other.status && headers(one) == headers(other)
            && one.contentType(ofBody: body) == other.contentType(ofBody: body)
    }

    private func kept(
        _ change: KeptFile.Change,
        _ file: String,
        _ response: KeepableResponse,
        _ substitution: Substitution
    ) -> KeptFile {
        let type = substitution.contentType(ofBody: response.body)
        return KeptFile(change: change, name: file, bytes: response.body.count, contentType: type)
    }
}

extension NotKept {
    /// The key of the entry for which a URL is not kept.
    var key: String? {
        switch self {
        case .entry(let key), .excluded(let key): key
        default: nil
        }
    }
}
