import Foundation
import LocalSubstitution
import MapTools

let checkCommand = Subcommand(
    name: "check",
    summary: "validate a map and its files",
    details: """
        Lists every error in a map with its line, and warns about what is probably a
        mistake: files that no entry names, patterns that never match or serve every
        file, keys such as /items/:id, delays that look like milliseconds, fields
        without effect, and files whose bytes don't match their MIME type. One warning
        covers all entries that need an attached session. If your session is attached,
        use --attached.
        The exit status is 1 if there is an error.

        With --remote, also compares files with what their URLs serve now, without
        caches or cookies. Leaves out entries whose keys are patterns. The exit status
        is 1 if a file has changed, if its URL is gone (404 or 410), or if a body is
        larger than --limit. It's 75 if the only problem is that some URLs can't be
        reached.

        With --remote and --update, replaces the files that have changed. Replaced files
        aren't errors. A file that several entries name is replaced only if all of their
        URLs serve the same bytes.

        Entries with a handler get a note: only the code that has the handler can answer
        their requests.
        """,
    options: [
        .flag("attached", help: "don't warn about the need for an attached session"),
        .flag("remote", help: "compare files with what their URLs serve now"),
        .flag("update", help: "with --remote: replace files that have changed"),
        Loader.Limit.option,
    ],
    run: check
)

private func check(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Complaint(usage: "check takes only options. Name the map with --map FILE.")
    }
    guard arguments.has("remote") || !arguments.has("update") else {
        throw Complaint(usage: "--update needs --remote. Use check --remote --update.")
    }
    let limit = try Loader.Limit(arguments)
    guard arguments.has("remote") || !arguments.has("limit") else {
        throw Complaint(usage: "--limit needs --remote. Use check --remote --limit \(arguments.value("limit") ?? "").")
    }
    let choice = MapChoice(arguments)
    try choice.announceExisting(to: output)
    let map: SubstitutionMap?
    let problems: [SubstitutionMap.Problem]
    do throws(SubstitutionMapError) {
        let loaded = try choice.checkedMap()
        (map, problems) = (loaded, loaded.problems)
    } catch {
        (map, problems) = (nil, error.problems)
    }

    let found = map.map { MapReview($0).warnings } ?? []
    let findings =
        problems.map { Finding($0, in: choice.file) }
        + Finding.list(found, in: choice.file, isAttached: arguments.has("attached"))
        + Finding.notes(on: map, in: choice.file)
    for finding in findings {
        let text = (finding.key.map { "“\($0)”: " } ?? "") + finding.message
        output.line("\(finding.place): \(finding.severity, finding.color): \(text)")
    }
    let (count, errors) = (map?.count ?? 0, problems.count)
    let warnings = findings.count { $0.severity == "warning" }
    output.line(
        """
        \(count.counted("entry", "entries")) in use, \(errors.counted("error", "errors")), \
        \(warnings.counted("warning", "warnings"))
        """
    )
    var remote: [RemoteComparison]?
    if let map, arguments.has("remote") {
        let updating = arguments.has("update")
        let progress = Output.Progress()
        let entries = await map.comparedWithRemote(limit: limit.bytes, refusal: limit.refusal, updating: updating) {
            progress.show("\($0.grouped) of \($1.grouped) URLs")
        }
        progress.end()
        RemoteComparison.report(entries, in: choice.file, updating: updating, output)
        remote = entries
    }
    try output.json([
        "map": choice.file.path, "entries": count, "errors": errors, "warnings": warnings,
        "findings": findings, "remote": remote.map { ["entries": $0] },
    ])
    if errors > 0 || remote?.contains(where: \.result.isFailure) == true { return .failed }
    return remote?.contains { $0.result == .unreachable } == true ? .tryAgain : .done
}

/// A result of `check`: an error, a warning or a note about the map.
private struct Finding: Encodable {
    let severity: String
    let kind: String
    /// `nil` if the finding isn't about a single entry.
    let key: String?
    let file: String
    /// From 1; `nil` if the finding has no line.
    let line: Int?
    /// From 1; `nil` if only the line is known.
    let column: Int?
    let message: String
    /// The keys of all entries that need an attached session, if this finding is about several entries; otherwise,
    /// `nil`.
    let keys: [String]?

    init(_ problem: SubstitutionMap.Problem, in file: URL) {
        severity = "error"
        kind = problem.kind.rawValue
        key = problem.key
        self.file = file.lastPathComponent
        line = problem.line
        column = problem.column
        message = problem.message
        keys = nil
    }

    /// Creates a finding for a warning.
    ///
    /// - Parameter keys: The keys of all entries that this finding is about; `nil`, the default, if it's about the
    ///   warning's entry alone.
    private init(_ warning: SubstitutionMap.Warning, in file: URL, for keys: [String]? = nil) {
        severity = "warning"
        kind = warning.kind.rawValue
        key = keys == nil ? warning.key : nil
        self.file = file.lastPathComponent
        line = warning.line
        column = nil
        let start = warning.needsAttachedSession ? "\(Self.aboutServe): " : ""
        message = keys.map(Self.needAttachedSession) ?? start + warning.message
        self.keys = keys
    }

    /// Creates a note about an entry with a handler, which only the app's code can provide. Returns `nil` for an entry
    /// without a handler.
    private init?(noteOn entry: Entry, in file: URL) {
        guard case .handler(let handler) = entry.options.answer else { return nil }
        severity = "note"
        kind = "handler"
        key = entry.key
        self.file = file.lastPathComponent
        line = Int(entry.line)
        column = nil
        message = handler.refusal
        keys = nil
    }

    /// Returns the notes about a map's enabled entries, in the order of their lines; empty if the map is `nil`.
    static func notes(on map: SubstitutionMap?, in file: URL) -> [Finding] {
        let entries = map?.entries.filter(\.options.isEnabled).flatMap(\.responding) ?? []
        return entries.compactMap { Finding(noteOn: $0, in: file) }.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    /// `nil` for a note, which has no color.
    var color: Output.Color? {
        switch severity {
        case "error": .red
        case "warning": .yellow
        default: nil
        }
    }

    private static let aboutServe =
        "If only substitute serve uses the map, nothing is wrong: hide this warning with check --attached. "
        + "In an app or a test"

    /// Returns the findings for warnings. All warnings about entries that need an attached session share one finding.
    /// Each other warning has its own.
    ///
    /// - Parameter isAttached: Whether the app attaches the cache. If it does, leaves out the warnings about entries
    ///   that need an attached session.
    static func list(_ warnings: [SubstitutionMap.Warning], in file: URL, isAttached: Bool) -> [Finding] {
        var known: Set<String> = []
        let keys = warnings.filter(\.needsAttachedSession).compactMap(\.key).filter { known.insert($0).inserted }
        var isFirst = !isAttached
        return warnings.compactMap { warning in
            guard warning.needsAttachedSession else { return Finding(warning, in: file) }
            defer { isFirst = false }
            return isFirst ? Finding(warning, in: file, for: keys.count > 1 ? keys : nil) : nil
        }
    }

    private static func needAttachedSession(_ keys: [String]) -> String {
        let named = keys.prefix(3).map { "“\($0)”" }
        let more = keys.count - named.count
        let list = (named + (more > 0 ? ["\(more.grouped) more"] : [])).listed()
        return "\(aboutServe), \(keys.count.grouped) entries need an attached session: \(list). "
            + "Attach the cache. If you did, hide this warning, too."
    }

    /// The file, line and column with colons between them, as in a compiler's messages. Leaves out an unknown line or
    /// column.
    var place: String {
        ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
    }
}

extension RemoteComparison {
    /// Prints a line for each comparison whose result isn't “same”, then the totals.
    ///
    /// - Parameter updating: Whether `--update` was given. If `true`, the totals show the number of updated files even
    ///   if it's 0.
    fileprivate static func report(_ entries: [Self], in map: URL, updating: Bool, _ output: Output) {
        for entry in entries where entry.result != .same {
            output.line(
                """
                \(map.lastPathComponent):\(entry.line): \(entry.result.rawValue, entry.result.color): \
                “\(entry.key)”: \(entry.text)
                """
            )
        }
        let counts = Result.allCases.compactMap { result -> String? in
            let count = entries.count { $0.result == result }
            guard count > 0 || result.isAlwaysCounted || (result == .updated && updating) else { return nil }
            return "\(count.grouped) \(result == .unreadable ? "failed" : result.rawValue)"
        }
        output.line("\(entries.count.counted("URL", "URLs")): \(counts.joined(separator: ", "))")
    }

    private var text: String {
        guard let firstDifference else {
            guard let status else { return reason ?? "" }
            return "The server responded with status \(status), so the file “\(file)” is the only copy. "
                + "Remove the entry if nothing requests its URL."
        }
        return "The file “\(file)” \(result == .updated ? "had" : "has") \(Output.format(bytes: bytes ?? 0)), "
            + "and the URL serves \(Output.format(bytes: remoteBytes ?? 0)). "
            + "They differ from offset \(firstDifference.grouped) on."
            + (result == .updated ? " The file was replaced." : "")
            + (reason.map { " The file wasn't replaced. \($0)" } ?? "")
    }
}

extension RemoteComparison.Result {
    fileprivate var isFailure: Bool { [.changed, .gone, .unreadable].contains(self) }
    fileprivate var isAlwaysCounted: Bool { [.same, .changed, .gone, .unreachable].contains(self) }

    fileprivate var color: Output.Color {
        switch self {
        case .same, .updated: .green
        case .changed, .gone, .unreadable: .red
        case .unreachable: .yellow
        }
    }
}
