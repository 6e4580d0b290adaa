import Foundation

/// A response that is to be kept in a map.
struct KeepableResponse {
    var status = 200
    /// Those that its entry has.
    let headers: [String: String]
    let type: ContentType?
    let body: Data
}

/// A response that is kept in a map.
package struct KeptFile: Sendable, Hashable {
    package enum Change: String, Sendable, Hashable {
        case new, replaced, unchanged
    }

    package let change: Change
    /// The file's name in the resources folder.
    package let name: String
    package let bytes: Int
    /// The `Content-Type` that it is served with.
    package let contentType: String
}

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
        if let oldFile, hasFile(oldFile, response.body), let served = servedType(of: url, response.body) {
            return .success(kept(.unchanged, oldFile, response, served))
        }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing { return .failure(Occupied(key: occupied)) }
        let file: String
        if let oldFile, isOnlyUse(oldFile) {
            file = oldFile
            try write(response.body, to: oldFile)
        } else {
            file = try write(response.body, as: RecordedFileName(url, type: response.type?.essence))
        }
        let recorded = RecordedEntry(
            status: response.status,
            headers: response.headers,
            type: response.type,
            body: response.body,
            url: url,
            file: file,
            defaults: entries.defaults
        )
        set(oldKey ?? key, to: recorded.text)
        let served = Self.servedType(Substitution(recorded.entry, fileName: file, folder: nil, url: url), response.body)
        return .success(kept(occupied == nil ? .new : .replaced, file, response, served))
    }

    private func kept(_ change: KeptFile.Change, _ file: String, _ response: KeepableResponse, _ type: String)
        -> KeptFile
    {
        KeptFile(change: change, name: file, bytes: response.body.count, contentType: type)
    }

    private func servedType(of url: NormalizedURL, _ body: Data) -> String? {
        entries.substitution(for: url).map { Self.servedType($0, body) }
    }

    static func servedType(_ substitution: Substitution, _ body: Data) -> String {
        ResponseBuilder.contentType(of: substitution, bodyBeginning: body.prefix(Charset.longestByteOrderMark))
    }
}

/// That a map has another entry for a URL.
struct Occupied: Error {
    let key: String
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
