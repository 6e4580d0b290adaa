import Foundation
import LocalSubstitution

extension EditedMap {
    /// Imports an archive's responses: for each URL and method, the last one whose body can be decoded.
    ///
    /// - Parameter replacing: Whether to replace existing entries. `null` entries are never replaced.
    /// - Returns: What happened to each response, in the order of the archive.
    package mutating func take(
        _ archive: HTTPArchive,
        _ selection: ArchiveSelection,
        replacing: Bool = false
    ) -> [ArchivedItem] {
        var outcomes: [Result<KeptFile, NotImported>?] = archive.entries.map { _ in nil }
        var candidates: [String: (url: NormalizedURL, numbers: [Int])] = [:]
        var order: [String] = []
        for (number, entry) in archive.entries.enumerated() {
            switch Self.candidate(entry, number: number + 1, selection, entries) {
            case .failure(let reason): outcomes[number] = .failure(reason)
            case .success(let url):
                if candidates[url.canonical] == nil { order.append(url.canonical) }
                candidates[url.canonical, default: (url, [])].numbers.append(number)
            }
        }
        for key in order {
            guard let (url, numbers) = candidates[key] else { continue }
            for (number, outcome) in take(numbers, of: archive, selection, url, replacing) {
                outcomes[number] = outcome
            }
        }
        return zip(archive.entries, outcomes).compactMap { entry, outcome in
            outcome.map { ArchivedItem(entry.url, $0) }
        }
    }

    private static func candidate(
        _ entry: ArchivedEntry,
        number: Int,
        _ selection: ArchiveSelection,
        _ entries: ForeignEntries
    ) -> Result<NormalizedURL, NotImported> {
        guard let text = entry.url else { return .failure(.noURL(entry: number)) }
        do throws(URLSyntaxError) {
            let url = try NormalizedURL(text)
            if let reason = selection.refusal(of: entry, url) { return .failure(reason) }
            if case .excluded(let key)? = entries.refusal(of: url) { return .failure(.excluded(key: key)) }
            return .success(url)
        } catch {
            return .failure(.url(error.fragment))
        }
    }

    /// Imports one URL's responses: for each method, the last one whose body can be decoded.
    private mutating func take(
        _ numbers: [Int],
        of archive: HTTPArchive,
        _ selection: ArchiveSelection,
        _ url: NormalizedURL,
        _ replacing: Bool
    ) -> [Int: Result<KeptFile, NotImported>] {
        var outcomes: [Int: Result<KeptFile, NotImported>] = [:]
        var last: [String: (number: Int, response: KeepableResponse)] = [:]
        for number in numbers.reversed() {
            let method = archive.entries[number].method ?? "GET"
            guard last[method] == nil else {
                outcomes[number] = .failure(.superseded)
                continue
            }
            switch Self.response(archive.entries[number], of: archive, selection, url) {
            case .success(let response): last[method] = (number, response)
            case .failure(let reason): outcomes[number] = .failure(reason)
            }
        }
        if last["GET"] != nil, let head = last.removeValue(forKey: "HEAD") {
            outcomes[head.number] = .failure(.headOfGet)
        }
        let taken = last.sorted { ($0.key == "GET" ? "" : $0.key) < ($1.key == "GET" ? "" : $1.key) }.map(\.value)
        do throws(MapToolError) {
            let kept = try keep(taken.map(\.response), for: url, as: url.canonical, replacing: replacing)
            for ((number, _), result) in zip(taken, kept) {
                outcomes[number] = result.mapError { NotImported.entry(key: $0.key) }
            }
        } catch {
            for (number, _) in taken { outcomes[number] = .failure(.unwritable(error.description)) }
        }
        return outcomes
    }

    private static func response(
        _ entry: ArchivedEntry,
        of archive: HTTPArchive,
        _ selection: ArchiveSelection,
        _ url: NormalizedURL
    ) -> Result<KeepableResponse, NotImported> {
        guard let body = archive.body(of: entry) else { return .failure(.brokenBody) }
        guard body.count <= selection.largest else { return .failure(.tooLarge(most: selection.largest)) }
        let type = entry.typeOfBody(at: url)
        if entry.hasLostBytes(body, at: url) { return .failure(.lostBytes(type: type?.essence ?? "")) }
        return .success(
            KeepableResponse(
                method: entry.method ?? "GET",
                status: entry.status ?? 200,
                headers: RecordedHeaders.kept(ArchivedEntry.keptHeaders) { entry.headers[$0.asciiLowercased] },
                type: type,
                body: body
            )
        )
    }
}
