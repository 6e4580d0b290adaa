import Foundation
import LocalSubstitution
import MapTools

let importCommand = Subcommand(
    name: "import",
    operands: "FILE.har",
    summary: "make a map and files of a recording (HTTP Archive)",
    details: """
        Takes the responses of an HTTP Archive, as the network panels of browsers and
        proxies save it, into a map and its resources folder; either is made if it is
        not there. Only what has a body is taken, of a GET; of several for one URL, the
        last. Entries and files that are there stay as they are. Cookies and other
        credentials are left out, and so are URLs that seem to have one.
        """,
    options: [
        Option(name: "into", value: "DIR", help: "the folder of the map; default: here"),
        Option(name: "match", value: "PATTERN", help: "only URLs that match it; may be repeated", repeats: true),
        Option(name: "type", value: "TYPE", help: "only such as image/*; may be repeated", repeats: true),
        Option(name: "status", value: "CODE", help: "instead of 200; may be repeated", repeats: true),
        Option(name: "max-size", value: "BYTES", help: "leave larger bodies; default: 20000000"),
        Option(name: "force", value: nil, help: "replace entries that are there; never null"),
        Option(name: "dry-run", value: nil, help: "only say what would be done"),
    ],
    run: importArchive
)

private func importArchive(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard let name = arguments.operands.first, arguments.operands.count == 1 else {
        throw UsageError("which archive? Name one, as recording.har")
    }
    guard arguments.value("into") == nil || arguments.value("map") == nil else {
        throw UsageError("--into and --map both name the map: leave one out")
    }
    let selection = try selection(arguments)
    let target = MapTarget(arguments, in: arguments.value("into"))
    let archive = try HTTPArchive(contentsOf: URL(fileURLWithPath: name))

    var map = try EditedMap(target.file, resources: target.resources, isDryRun: arguments.has("dry-run"))
    let items = map.take(archive, selection, replacing: arguments.has("force"))
    do {
        try map.save()
    } catch {
        map.removeFiles()
        throw error
    }
    output.message("map \(target.file.path)")
    output.list(items)
    let counts = Dictionary(items.map { (ImportedRecord($0).outcome, 1) }, uniquingKeysWith: +)
    let sums = ["new", "replaced", "unchanged", "left"].compactMap { name in
        counts[name].map { "\($0) \(name)" } ?? (name == "new" || name == "left" ? "0 \(name)" : nil)
    }
    output.line("\(sums.joined(separator: ", "))\(map.isDryRun ? "; nothing was written" : "")")
    try output.json(
        ImportRecord(
            map: target.file.path,
            resources: target.resources.path,
            dryRun: map.isDryRun,
            responses: items.map(ImportedRecord.init)
        )
    )
    return items.contains { ImportedRecord($0).reason == "unwritable" } ? .failed : .done
}

private func selection(_ arguments: Arguments) throws -> ArchiveSelection {
    let statuses = try arguments.all("status").map { text in
        guard let status = Int(text), (100...599).contains(status) else {
            throw UsageError("“\(text)” is no HTTP status: write --status 404")
        }
        return status
    }
    let types = arguments.all("type")
    for type in types where !isMIMEType(type) {
        throw UsageError("“\(type)” is no MIME type: write --type image/png or 'image/*'")
    }
    var largest = ArchiveSelection.standardLargest
    if let text = arguments.value("max-size") {
        guard let bytes = Int(text), bytes > 0 else { throw UsageError("“\(text)” is no number of bytes") }
        largest = bytes
    }
    do throws(ArchiveSelection.Problem) {
        return try ArchiveSelection(
            patterns: arguments.all("match"),
            types: types,
            statuses: statuses,
            largest: largest
        )
    } catch {
        throw UsageError(error.message)
    }
}

/// Whether a text is type and subtype, each perhaps with `*`.
private func isMIMEType(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts.contains { $0.isEmpty || $0.contains { $0.isWhitespace || $0 == ";" } }
}

extension Output {
    /// What was taken, then what was left, with the reasons. Of many for the same sort of reason, the first.
    fileprivate func list(_ items: [ArchivedItem]) {
        var (taken, left): ([ImportedRecord], [String: [ImportedRecord]]) = ([], [:])
        var kinds: [String] = []
        for record in items.map(ImportedRecord.init) {
            guard let kind = record.reason else {
                taken.append(record)
                continue
            }
            if left[kind] == nil { kinds.append(kind) }
            left[kind, default: []].append(record)
        }
        table(
            taken.prefix(Self.mostTaken).map { record in
                (
                    record.outcome == "unchanged" ? nil : .green,
                    [
                        record.outcome, record.contentType ?? "", Self.format(bytes: record.bytes ?? 0),
                        record.file ?? "", record.url,
                    ]
                )
            },
            numbers: [2]
        )
        if taken.count > Self.mostTaken { line("and \(taken.count - Self.mostTaken) more (--json lists all)") }
        for kind in kinds {
            let records = left[kind] ?? []
            table(
                records.prefix(Self.mostLeft).map { record in
                    (.yellow, ["left", record.message ?? "", record.url])
                }
            )
            let more = records.count - Self.mostLeft
            if more > 0 { line("left  and \(more) more for such a reason (--json lists all)") }
        }
    }

    private static var mostTaken: Int { 100 }
    private static var mostLeft: Int { 10 }
}

/// What `--json` says of an import.
private struct ImportRecord: Encodable {
    let map: String
    let resources: String
    let dryRun: Bool
    let responses: [ImportedRecord]
}

/// What became of one response of the archive.
private struct ImportedRecord: Encodable {
    let url: String
    let outcome: String
    let file: String?
    let bytes: Int?
    let contentType: String?
    let reason: String?
    let message: String?

    init(_ item: ArchivedItem) {
        url = item.url
        switch item.outcome {
        case .success(let kept):
            (outcome, file, bytes) = (kept.change.rawValue, kept.name, kept.bytes)
            (contentType, reason, message) = (kept.contentType, nil, nil)
        case .failure(let failure):
            (outcome, file, bytes, contentType) = ("left", nil, nil, nil)
            (reason, message) = (failure.reason.kind, failure.reason.description)
        }
    }
}
