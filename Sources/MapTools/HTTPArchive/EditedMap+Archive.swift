import Foundation
import LocalSubstitution

extension EditedMap {
    /// Imports an archive's responses: for each URL, the last one whose body can be decoded.
    ///
    /// - Parameter replacing: Whether existing entries are replaced. `null` entries never are.
    /// - Returns: What became of each, in the order of the archive.
    package mutating func take(
        _ archive: HTTPArchive,
        _ selection: ArchiveSelection,
        replacing: Bool = false
    ) -> [ArchivedItem] {
        var outcomes: [Result<KeptFile, NotImported>?] = archive.entries.map { _ in nil }
        var candidates: [String: (url: NormalizedURL, numbers: [Int])] = [:]
        var order: [String] = []
        for (number, entry) in archive.entries.enumerated() {
            switch Self.candidate(entry, selection, entries) {
            case .failure(let reason): outcomes[number] = .failure(reason)
            case .success(let url):
                if candidates[url.canonical] == nil { order.append(url.canonical) }
                candidates[url.canonical, default: (url, [])].numbers.append(number)
            }
        }
        for key in order {
            guard let (url, numbers) = candidates[key] else { continue }
            var isTaken = false
            for number in numbers.reversed() {
                guard !isTaken else {
                    outcomes[number] = .failure(.superseded)
                    continue
                }
                let outcome = take(archive.entries[number], of: archive, selection, url, replacing)
                outcomes[number] = outcome
                switch outcome {
                case .success: isTaken = true
                // No earlier one instead: the existing entry was compared with the last response.
                case .failure(let reason): isTaken = reason.isFinal
                }
            }
        }
        return zip(archive.entries, outcomes).map { entry, outcome in
            ArchivedItem(entry.url, outcome ?? .failure(.malformed))
        }
    }

    private static func candidate(
        _ entry: ArchivedEntry,
        _ selection: ArchiveSelection,
        _ entries: ForeignEntries
    ) -> Result<NormalizedURL, NotImported> {
        guard let text = entry.url else { return .failure(.malformed) }
        do throws(URLSyntaxError) {
            let url = try NormalizedURL(text)
            if let reason = selection.refusal(of: entry, url) { return .failure(reason) }
            if case .excluded(let key)? = entries.refusal(of: url) { return .failure(.excluded(key: key)) }
            return .success(url)
        } catch {
            return .failure(.url(error.message))
        }
    }

    private mutating func take(
        _ entry: ArchivedEntry,
        of archive: HTTPArchive,
        _ selection: ArchiveSelection,
        _ url: NormalizedURL,
        _ replacing: Bool
    ) -> Result<KeptFile, NotImported> {
        guard let body = archive.body(of: entry) else { return .failure(.brokenBody) }
        guard body.count <= selection.largest else { return .failure(.tooLarge(most: selection.largest)) }
        let type = entry.typeOfBody(at: url)
        if entry.hasLostBytes(body, at: url) { return .failure(.lostBytes(type: type?.essence ?? "")) }
        let response = KeepableResponse(
            status: entry.status ?? 200,
            headers: RecordedHeaders.kept(ArchivedEntry.keptHeaders) { entry.headers[$0.asciiLowercased] },
            type: type,
            body: body
        )
        do throws(MapToolError) {
            return try keep(response, for: url, as: url.canonical, replacing: replacing)
                .mapError { NotImported.entry(key: $0.key) }
        } catch {
            return .failure(.unwritable(error.description))
        }
    }
}
