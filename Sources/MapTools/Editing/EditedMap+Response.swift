import Foundation
import LocalSubstitution

extension EditedMap {
    /// Keeps a response: writes its body, and makes the entry that serves it.
    ///
    /// - Parameter replacing: Whether an existing entry for the URL is replaced.
    /// - Returns: The kept file, or the key of the existing entry that prevented it.
    mutating func keep(
        _ response: KeepableResponse,
        for url: NormalizedURL,
        as key: String,
        replacing: Bool
    ) throws(MapToolError) -> Result<KeptFile, Occupied> {
        let oldKey = entries.key(of: url)
        let oldFile = oldKey.flatMap { entries.document.fields(of: $0)?.file }
        let isThere = oldFile.map { hasFile($0, response.body) } ?? false
        if let oldFile, isThere, let served = entries.substitution(for: url) {
            let new = recorded(response, for: url, in: oldFile).substitution(for: url)
            if isSame(served, new, response.body) {
                return .success(KeptFile(.unchanged, oldFile, response.body, served))
            }
        }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing { return .failure(Occupied(key: occupied)) }
        let file: String
        if let oldFile, isThere || isOnlyUse(oldFile) {
            file = oldFile
            if !isThere { try write(response.body, to: oldFile) }
        } else {
            file = try write(response.body, as: RecordedFileName(url, type: response.type?.essence))
        }
        let recorded = recorded(response, for: url, in: file)
        set(oldKey ?? key, to: recorded.text)
        let served = recorded.substitution(for: url)
        return .success(KeptFile(occupied == nil ? .new : .replaced, file, response.body, served))
    }

    /// The map has another entry for a URL.
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

    /// Whether two entries for the same bytes have the same type, status and headers. When they answer, and how they are
    /// spelled, doesn't count.
    private func isSame(_ one: Substitution, _ other: Substitution, _ body: Data) -> Bool {
        // `Content-Type` is compared as it is served.
        var headers = (one.headers, other.headers)
        headers.0[header: "Content-Type"] = nil
        headers.1[header: "Content-Type"] = nil
        return one.status == other.status && headers.0.count == headers.1.count
            && headers.0.allSatisfy { headers.1[header: $0.key] == $0.value }
            && one.contentType(ofBody: body) == other.contentType(ofBody: body)
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
