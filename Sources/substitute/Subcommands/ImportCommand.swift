import Foundation
import LocalSubstitution
import MapTools

let importCommand = Subcommand(
    name: "import",
    operands: [.file("FILE.har", "*.har")],
    summary: "create a map and files from a recording (HTTP Archive)",
    details: """
        Imports the responses of an HTTP Archive (HAR) into a map and its resources
        folder, and creates them if necessary. Proxies and the network panels of
        browsers save such archives.

        Imports the same responses as a test that uses the archive: to requests of any
        method, with a status from 200 to 599. To select some, use --match, --type,
        --status and --methods. If a request was repeated, its responses are returned in
        order. With --last, only the last one is imported. A URL with several methods or
        responses gets an entry with alternatives.
        Leaves out cookies and other credentials, and URLs that seem to contain one.
        Existing entries and files don't change, unless --force replaces them.

        Examples:

            substitute import recording.har
            substitute import --match 'https://api.example.com/*' recording.har
        """,
    options: [
        .option("into", .folder, help: "the map's folder (default: the current folder)"),
        .option("map", .mapFile, help: "the map (default: substitutions.json in --into's DIR)"),
        .option("match", "PATTERN", help: "only URLs that match PATTERN (repeatable)", repeats: true),
        .option("type", "TYPE", help: "only this MIME type, such as image/* (repeatable)", repeats: true),
        .option("status", "CODE", help: "only this status, such as 200 (repeatable)", repeats: true),
        .option("methods", "LIST", help: "only these methods, such as GET,POST"),
        .flag("last", help: "keep only the last response to a repeated request"),
        .option("max-size", "BYTES", help: "skip larger bodies (default: 20000000)"),
        .flag("force", help: "replace existing entries that aren't null"),
        .flag("dry-run", help: "only print what would be done"),
    ],
    removedOptions: ["in-order": "Responses are always in order, so leave it out. For only the last ones, use --last."],
    run: importArchive
)

private func importArchive(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard let name = arguments.operands.first, arguments.operands.count == 1 else {
        throw Complaint(usage: "import takes one archive. Name one, such as recording.har.")
    }
    guard arguments.value("into") == nil || arguments.value("map") == nil else {
        throw Complaint(usage: "--into and --map both say where the map is. Leave one out.")
    }
    let selection = try selection(arguments)
    let target = MapChoice(arguments, in: arguments.value("into"))
    let resources = target.resources
    let archive = try HTTPArchive(contentsOf: Shell.file(name))

    let isDryRun = arguments.has("dry-run")
    var map = try EditedMap(target.file, resources: resources, isDryRun: isDryRun) { output.message("\($0)") }
    let imported = map.take(
        archive,
        selection,
        replacing: arguments.has("force"),
        onlyLast: arguments.has("last")
    )
    let items = imported.items
    try map.save()
    target.announce(to: output)
    output.list(items)
    let counts = Dictionary(items.map { ($0.change, 1) }, uniquingKeysWith: +)
    let sums = ["new", "replaced", "unchanged", "left"].compactMap { name in
        counts[name].map { "\($0.grouped) \(name)" } ?? (name == "new" || name == "left" ? "0 \(name)" : nil)
    }
    output.line("\(sums.joined(separator: ", "))\(map.isDryRun ? "; nothing was written" : "")")
    if imported.sequences > 0 {
        let requests = imported.sequences.counted("request has", "requests have")
        output.line("\(requests) several responses. --last keeps the last.")
    }
    if imported.conditions > 0 {
        let alternatives = imported.conditions.counted("alternative contains", "alternatives contain")
        let them = imported.conditions == 1 ? "it" : "them"
        output.line("\(alternatives) parts of request bodies. Look through \(them) before you commit.")
    }
    let parts = NotRecorded.Group(parts: imported.parts, notIn: target.file)
    if let parts { output.line(parts.text(not: "imported")) }
    try output.json([
        "map": target.file.path, "resources": resources.path, "dryRun": map.isDryRun,
        "responses": items.map { $0.json() }, "notImported": parts.map { [$0] },
    ])
    return items.contains { $0.refusal?.kind == HTTPArchive.Item.failure } ? .failed : .done
}

private func selection(_ arguments: Arguments) throws -> HTTPArchive.Selection {
    let statuses = try arguments.all("status", as: "an HTTP status", "Use one such as --status 404.") { text in
        Int(text).flatMap { (200...599).contains($0) ? $0 : nil }
    }
    let methods = (arguments.value("methods") ?? "*").split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    for method in methods where method != "*" && !RequestOptions.isMethod(method) {
        throw Complaint(usage: "“\(method)” isn't an HTTP method. Use --methods GET,POST, or '*' for all.")
    }
    let typeAdvice = "Use type/subtype, such as --type image/png or 'image/*'."
    let types = try arguments.all("type", as: "a MIME type", typeAdvice) { isMIMEType($0) ? $0 : nil }
    let sizes = try arguments.all("max-size", as: "a number of bytes", "Use one such as --max-size 5000000.") { text in
        Int(text).flatMap { $0 > 0 ? $0 : nil }
    }
    do throws(Complaint) {
        return try HTTPArchive.Selection(
            patterns: arguments.all("match"),
            types: types,
            statuses: statuses,
            methods: methods,
            largest: sizes.last ?? HTTPArchive.Selection.standardLargest
        )
    } catch {
        throw Complaint(usage: error.description)
    }
}

/// Returns whether a text is a MIME type such as `image/png`. Type and subtype may contain the wildcard `*`.
private func isMIMEType(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts.contains { $0.isEmpty || $0.contains { $0.isWhitespace || $0 == ";" } }
}

extension HTTPArchive.Item {
    /// What happened to the response in one word, such as `new` or `left`.
    fileprivate var change: String { (try? outcome.get())?.change.rawValue ?? "left" }

    /// Why the response was left out; `nil` if it was imported.
    fileprivate var refusal: Complaint? { if case .failure(let refusal) = outcome { refusal } else { nil } }

    /// Returns the JSON object that `add` and `import` print with `--json`.
    ///
    /// - Parameter map: The map's path; `nil`, the default, if the object is a part of a JSON document.
    func json(map: String? = nil) -> Output.JSONObject {
        let file = try? outcome.get()
        return [
            "map": map, "url": url, "outcome": change, "file": file?.name, "bytes": file?.bytes,
            "contentType": file?.contentType, "reason": refusal?.kind, "message": refusal?.description,
        ]
    }

    /// The table row that `add` and `import` print. An unchanged response has no color.
    var row: (color: Output.Color?, cells: [String]) {
        switch outcome {
        case .success(let file):
            let color: Output.Color? = file.change == .unchanged ? nil : .green
            let (type, name) = file.name.map { (file.contentType, $0) } ?? ("no body", "—")
            return (color, [change, type, Output.format(bytes: file.bytes), name, url])
        case .failure(let refusal):
            return (.yellow, [change, refusal.description] + (url.isEmpty ? [] : [url]))
        }
    }
}

extension Output {
    /// Prints the imported responses, then the responses that were left out with their reasons. Prints at most 100
    /// imported responses, and at most 10 for each kind of reason.
    fileprivate func list(_ items: [HTTPArchive.Item]) {
        let (mostTaken, mostLeft) = (100, 10)
        let taken = items.filter { $0.refusal == nil }
        table(taken.prefix(mostTaken).map(\.row), numbers: [2])
        if taken.count > mostTaken { line("and \((taken.count - mostTaken).grouped) more (--json lists all)") }
        var kinds: [String] = []
        for case let kind? in items.map(\.refusal?.kind) where !kinds.contains(kind) { kinds.append(kind) }
        for kind in kinds {
            let records = items.filter { $0.refusal?.kind == kind }
            table(records.prefix(mostLeft).map(\.row))
            let more = records.count - mostLeft
            if more > 0 { line("left  and \(more.grouped) more for similar reasons (--json lists all)") }
        }
    }
}
