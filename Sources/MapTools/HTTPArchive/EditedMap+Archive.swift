import Foundation
import LocalSubstitution

extension EditedMap {
    /// Takes an archive's responses in: of those for one URL the last whose body can be decoded.
    ///
    /// - Parameter replacing: Whether entries that are there already give way. `null` entries never do.
    /// - Returns: What became of each, in the order of the archive.
    package mutating func take(
        _ archive: HTTPArchive,
        _ selection: ArchiveSelection,
        replacing: Bool = false
    ) -> [ArchivedItem] {
        var outcomes: [Result<KeptFile, ArchivedItem.Reason>?] = archive.entries.map { _ in nil }
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
                    outcomes[number] = .failure(ArchivedItem.Reason(reason: .superseded))
                    continue
                }
                let outcome = take(archive.entries[number], of: archive, selection, url, replacing)
                outcomes[number] = outcome
                switch outcome {
                case .success: isTaken = true
                // Not an earlier one in its place: the last is what the entry that is there differs from.
                case .failure(let failure): isTaken = failure.reason.isFinal
                }
            }
        }
        return zip(archive.entries, outcomes).map { entry, outcome in
            ArchivedItem(entry.url, outcome ?? .failure(ArchivedItem.Reason(reason: .malformed)))
        }
    }

    private static func candidate(
        _ entry: ArchivedEntry,
        _ selection: ArchiveSelection,
        _ entries: ForeignEntries
    ) -> Result<NormalizedURL, ArchivedItem.Reason> {
        guard let text = entry.url else { return .failure(ArchivedItem.Reason(reason: .malformed)) }
        do throws(URLSyntaxError) {
            let url = try NormalizedURL(text)
            if let reason = selection.refusal(of: entry, url) { return .failure(ArchivedItem.Reason(reason: reason)) }
            if case .excluded(let key)? = entries.refusal(of: url) {
                return .failure(ArchivedItem.Reason(reason: .excluded(key: key)))
            }
            return .success(url)
        } catch {
            return .failure(ArchivedItem.Reason(reason: .url(error.message)))
        }
    }

    private mutating func take(
        _ entry: ArchivedEntry,
        of archive: HTTPArchive,
        _ selection: ArchiveSelection,
        _ url: NormalizedURL,
        _ replacing: Bool
    ) -> Result<KeptFile, ArchivedItem.Reason> {
        guard let body = archive.body(of: entry) else { return .failure(ArchivedItem.Reason(reason: .brokenBody)) }
        guard body.count <= selection.largest else {
            return .failure(ArchivedItem.Reason(reason: .tooLarge(most: selection.largest)))
        }
        let type = entry.typeOfBody(at: url)
        if entry.hasLostBytes(body, at: url) {
            return .failure(ArchivedItem.Reason(reason: .lostBytes(type: type?.essence ?? "")))
        }
        let response = KeepableResponse(
            status: entry.status ?? 200,
            headers: RecordedHeaders.kept(ArchivedEntry.keptHeaders) { entry.headers[MIMEType.asciiLowercased($0)] },
            type: type,
            body: body
        )
        do throws(MapEditError) {
            return try keep(response, for: url, as: url.canonical, replacing: replacing)
                .mapError { ArchivedItem.Reason(reason: .entry(key: $0.key)) }
        } catch {
            return .failure(ArchivedItem.Reason(reason: .unwritable(error.description)))
        }
    }
}

extension NotImported {
    /// Whether no earlier response for the same URL is taken instead.
    fileprivate var isFinal: Bool {
        switch self {
        case .entry, .unwritable: true
        default: false
        }
    }
}
