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
        not there. Takes only responses with a body, to a GET unless --methods says
        otherwise; for each URL and method, the last one. Several methods of one URL
        become alternatives of its entry. Existing entries and files stay as they are.
        Leaves out cookies and other credentials, and URLs that seem to contain one.
        """,
    options: [
        Option(name: "into", value: "DIR", help: "the folder of the map; default: here"),
        Option(name: "match", value: "PATTERN", help: "only URLs that match it; may be repeated", repeats: true),
        Option(name: "type", value: "TYPE", help: "only such as image/*; may be repeated", repeats: true),
        Option(name: "status", value: "CODE", help: "instead of 200; may be repeated", repeats: true),
        Option(name: "methods", value: "LIST", help: "such as GET,POST, or '*'; default: GET"),
        Option(name: "max-size", value: "BYTES", help: "leave larger bodies; default: 20000000"),
        Option(name: "force", value: nil, help: "replace entries that are there; never null"),
        Option(name: "dry-run", value: nil, help: "only say what would be done"),
    ],
    run: importArchive
)

private func importArchive(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard let name = arguments.operands.first, arguments.operands.count == 1 else {
        throw Failure(usage: "which archive? Name one, as recording.har")
    }
    guard arguments.value("into") == nil || arguments.value("map") == nil else {
        throw Failure(usage: "--into and --map both name the map: leave one out")
    }
    let selection = try selection(arguments)
    let target = MapChoice(arguments, in: arguments.value("into"))
    let resources = target.resources
    let archive = try HTTPArchive(contentsOf: URL(fileURLWithPath: name))

    var map = try EditedMap(target.file, resources: resources, isDryRun: arguments.has("dry-run"))
    let items = map.take(archive, selection, replacing: arguments.has("force")).map { KeptRecord($0) }
    try map.save()
    output.message("map \(target.file.path)")
    output.list(items)
    let counts = Dictionary(items.map { ($0.outcome, 1) }, uniquingKeysWith: +)
    let sums = ["new", "replaced", "unchanged", "left"].compactMap { name in
        counts[name].map { "\($0) \(name)" } ?? (name == "new" || name == "left" ? "0 \(name)" : nil)
    }
    output.line("\(sums.joined(separator: ", "))\(map.isDryRun ? "; nothing was written" : "")")
    try output.json(
        ImportRecord(
            map: target.file.path,
            resources: resources.path,
            dryRun: map.isDryRun,
            responses: items
        )
    )
    return items.contains { $0.reason == NotImported.failure } ? .failed : .done
}

private func selection(_ arguments: Arguments) throws -> ArchiveSelection {
    let statuses = try arguments.all("status").map { text in
        guard let status = Int(text), (100...599).contains(status) else {
            throw Failure(usage: "“\(text)” is no HTTP status: write --status 404")
        }
        return status
    }
    let methods = (arguments.value("methods") ?? "GET").split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    for method in methods where method != "*" && !RequestOptions.isMethod(method) {
        throw Failure(usage: "“\(method)” isn't an HTTP method: write --methods GET,POST or '*'")
    }
    let types = arguments.all("type")
    for type in types where !isMIMEType(type) {
        throw Failure(usage: "“\(type)” isn't a MIME type: write --type image/png or 'image/*'")
    }
    var largest = ArchiveSelection.standardLargest
    if let text = arguments.value("max-size") {
        guard let bytes = Int(text), bytes > 0 else { throw Failure(usage: "“\(text)” is no number of bytes") }
        largest = bytes
    }
    do throws(MapToolError) {
        return try ArchiveSelection(
            patterns: arguments.all("match"),
            types: types,
            statuses: statuses,
            methods: methods,
            largest: largest
        )
    } catch {
        throw Failure(usage: error.description)
    }
}

/// Whether a text is type and subtype, each perhaps with `*`.
private func isMIMEType(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts.contains { $0.isEmpty || $0.contains { $0.isWhitespace || $0 == ";" } }
}

extension Output {
    /// What was taken, then what was left, with the reasons. Of many for the same sort of reason, the first.
    fileprivate func list(_ items: [KeptRecord]) {
        let taken = items.filter { $0.reason == nil }
        table(taken.prefix(Self.mostTaken).map(\.row), numbers: [2])
        if taken.count > Self.mostTaken { line("and \(taken.count - Self.mostTaken) more (--json lists all)") }
        var kinds: [String] = []
        let left = Dictionary(grouping: items) { $0.reason ?? "" }
        for case let kind? in items.map(\.reason) where !kinds.contains(kind) { kinds.append(kind) }
        for kind in kinds {
            let records = left[kind] ?? []
            table(records.prefix(Self.mostLeft).map(\.row))
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
    let responses: [KeptRecord]
}
