import Foundation
import LocalSubstitution
import MapWriting

extension EditedMap {
    /// Imports an archive's responses: for each request, the last one whose body can be decoded. Requests differ in URL, method and the
    /// condition on their body.
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

    /// Imports one URL's responses: for each request, the last one whose body can be decoded.
    private mutating func take(
        _ numbers: [Int],
        of archive: HTTPArchive,
        _ selection: ArchiveSelection,
        _ url: NormalizedURL,
        _ replacing: Bool
    ) -> [Int: Result<KeptFile, NotImported>] {
        var outcomes: [Int: Result<KeptFile, NotImported>] = [:]
        var last: [RecordedRequest: (number: Int, response: KeepableResponse)] = [:]
        for number in numbers.reversed() {
            let entry = archive.entries[number]
            let request = RecordedRequest(entry.method ?? "GET", archive.condition(of: entry))
            guard last[request] == nil else {
                outcomes[number] = .failure(.superseded)
                continue
            }
            switch Self.response(entry, to: request, of: archive, selection, url) {
            case .success(let response): last[request] = (number, response)
            case .failure(let reason): outcomes[number] = .failure(reason)
            }
        }
        for (request, head) in last where request.method == "HEAD" {
            guard last[RecordedRequest("GET", request.condition)] != nil else { continue }
            last[request] = nil
            outcomes[head.number] = .failure(.headOfGet)
        }
        let taken = last.sorted { one, other in
            let areGets = (one.key.method == "GET", other.key.method == "GET")
            return areGets.0 == areGets.1 ? RecordedRequest.isBefore(one.key, other.key) : areGets.0
        }.map(\.value)
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
        to request: RecordedRequest,
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
                request: request,
                status: entry.status ?? 200,
                headers: RecordedHeaders.kept(ArchivedEntry.keptHeaders) { entry.headers[$0.asciiLowercased] },
                type: type,
                body: body
            )
        )
    }
}
