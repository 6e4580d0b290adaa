import Foundation
import LocalSubstitution
import MapTools

let checkCommand = Subcommand(
    name: "check",
    operands: "",
    summary: "validate a map and its files",
    details: """
        Lists every error in a map with its line, and warns about what is probably a
        mistake: files that no entry names, keys that can't match what was meant, fields
        without effect, and files whose bytes don't match their MIME type. One warning
        is for all entries that need an attached session. If yours is, use --attached.
        The exit status is 1 if there is an error.

        With --remote, also compares the files of exact entries with what their URLs
        serve now, without caches or cookies. The exit status is 1 if a file has
        changed, if its URL is gone (404 or 410), or if a body is larger than --limit.
        It's 75 if the only problem is that some URLs can't be reached.

        With --remote and --update, replaces the files that have changed. Files that it
        replaces aren't errors. A file that several entries name is replaced only if all
        of their URLs serve the same bytes.
        """,
    options: [
        Option(name: "attached", value: nil, help: "don't warn about the need for an attached session"),
        Option(name: "remote", value: nil, help: "compare files with what their URLs serve now"),
        Option(name: "update", value: nil, help: "with --remote: replace files that have changed"),
        ByteCount.limitOption,
    ],
    run: check
)

private func check(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw Failure(usage: "check takes only options. Name the map with --map FILE.")
    }
    guard arguments.has("remote") || !arguments.has("update") else {
        throw Failure(usage: "--update needs --remote. Use check --remote --update.")
    }
    let limit = try ByteCount.limit(arguments)
    guard arguments.has("remote") || !arguments.has("limit") else {
        throw Failure(usage: "--limit needs --remote. Use check --remote --limit \(arguments.value("limit") ?? "").")
    }
    let choice = try MapChoice.loaded(arguments, output)
    let map: SubstitutionMap?
    let result: (count: Int, problems: [SubstitutionMap.Problem], warnings: [SubstitutionMap.Warning])
    do throws(SubstitutionMapError) {
        let loaded = try choice.checkedMap()
        map = loaded
        result = (loaded.count, loaded.problems, MapReview(loaded).warnings)
    } catch {
        map = nil
        result = (0, error.problems, [])
    }

    let findings =
        result.problems.map { Finding($0, in: choice.file) }
        + Finding.list(result.warnings, in: choice.file, isAttached: arguments.has("attached"))
    for finding in findings {
        let text = (finding.key.map { "“\($0)”: " } ?? "") + finding.message
        output.line("\(finding.place): \(finding.severity, finding.severity == "error" ? .red : .yellow): \(text)")
    }
    let errors = result.problems.count
    let warnings = findings.count - errors
    output.line(
        """
        \(result.count.counted("entry", "entries")) in use, \(errors.counted("error", "errors")), \
        \(warnings.counted("warning", "warnings"))
        """
    )
    var remote: RemoteCheck?
    if let map, arguments.has("remote") {
        remote = await RemoteCheck(map, in: choice.file, updating: arguments.has("update"), limit: limit)
        remote?.print(output)
    }
    try output.json(
        CheckRecord(
            map: choice.file.path,
            entries: result.count,
            errors: errors,
            warnings: warnings,
            findings: findings,
            remote: remote?.record
        )
    )
    return errors == 0 ? remote?.status ?? .done : .failed
}

/// The JSON that `--json` prints for a map.
private struct CheckRecord: Encodable {
    let map: String
    let entries: Int
    let errors: Int
    let warnings: Int
    let findings: [Finding]
    /// Only with `--remote`.
    let remote: RemoteCheck.Record?
}

/// An error or a warning.
private struct Finding: Encodable {
    let severity: String
    let kind: String
    let key: String?
    let file: String
    let line: Int?
    let column: Int?
    let message: String
    /// The keys of all entries that need an attached session, if there are several.
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
    /// - Parameter keys: The keys of all entries for which this is the only finding, beginning with the warning's own.
    private init(_ warning: SubstitutionMap.Warning, in file: URL, for keys: [String] = []) {
        let isOfMany = keys.count > 1
        severity = "warning"
        kind = isOfMany ? SubstitutionMap.Warning.Kind.needsProtocol.rawValue : warning.kind.rawValue
        key = isOfMany ? nil : warning.key
        self.file = file.lastPathComponent
        line = warning.line
        column = nil
        message = isOfMany ? Self.needAttachedSession(keys) : warning.message
        self.keys = isOfMany ? keys : nil
    }

    /// Returns a finding for each warning, but only one, or none, for all entries that need an attached session.
    static func list(_ warnings: [SubstitutionMap.Warning], in file: URL, isAttached: Bool) -> [Finding] {
        let kinds: Set = [SubstitutionMap.Warning.Kind.needsProtocol, .refusedByLoader]
        var known: Set<String> = []
        let keys = warnings.filter { kinds.contains($0.kind) }.compactMap(\.key).filter { known.insert($0).inserted }
        var isFirst = !isAttached
        return warnings.compactMap { warning in
            guard kinds.contains(warning.kind) else { return Finding(warning, in: file) }
            defer { isFirst = false }
            return isFirst ? Finding(warning, in: file, for: keys) : nil
        }
    }

    private static func needAttachedSession(_ keys: [String]) -> String {
        let named = keys.prefix(mostNamed).map { "“\($0)”" }
        let more = keys.count - named.count
        let list = (named + (more > 0 ? ["\(more.grouped) more"] : [])).listed()
        return "\(keys.count.grouped) entries need an attached session: \(list). "
            + "Attach the cache, then hide this warning with check --attached."
    }

    private static let mostNamed = 3

    /// The file, line and column, as compilers write them.
    var place: String {
        ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
    }
}
