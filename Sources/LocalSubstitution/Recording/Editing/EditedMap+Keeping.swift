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
        let isThere = oldFile.map { hasFile($0, response.body) } ?? false
        if let oldFile, isThere, let served = entries.substitution(for: url) {
            let new = substitution(recorded(response, for: url, in: oldFile), for: url)
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
        let served = substitution(recorded, for: url)
        return .success(kept(occupied == nil ? .new : .replaced, file, response, served))
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

    private func substitution(_ recorded: RecordedEntry, for url: NormalizedURL) -> Substitution {
        Substitution(recorded.entry, fileName: recorded.entry.file?.text, folder: nil, url: url)
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
            && Self.servedType(one, body) == Self.servedType(other, body)
    }

    private func kept(
        _ change: KeptFile.Change,
        _ file: String,
        _ response: KeepableResponse,
        _ substitution: Substitution
    ) -> KeptFile {
        let type = Self.servedType(substitution, response.body)
        return KeptFile(change: change, name: file, bytes: response.body.count, contentType: type)
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
