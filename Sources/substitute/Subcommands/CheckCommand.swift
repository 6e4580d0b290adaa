import Foundation
import LocalSubstitution

let checkCommand = Subcommand(
    name: "check",
    operands: "",
    summary: "validate a map and its files",
    details: """
        Lists every error in a map with its line, and warns about what is probably a
        mistake: files that no entry names, patterns that never win or that miss URLs
        with a query, entries that the loader rejects, and files whose bytes don't match
        their MIME type. The exit status is 1 if there is an error.

        With --remote, also compares the files of exact entries with what their URLs
        serve now, without caches or cookies. The exit status is 1 if a file has
        changed, if its URL is gone (404 or 410), or if a body is larger than --limit.
        It's 75 if the only problem is that some URLs can't be reached.

        With --remote and --update, replaces the files that have changed. Files that it
        replaces aren't errors. A file that several entries name is replaced only if all
        of their URLs serve the same bytes.
        """,
    options: [
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
        result = (loaded.count, loaded.problems, loaded.warnings())
    } catch {
        map = nil
        result = (0, error.problems, [])
    }

    let findings =
        result.problems.map { Finding($0, in: choice.file) } + result.warnings.map { Finding($0, in: choice.file) }
    for finding in findings {
        let text = (finding.key.map { "“\($0)”: " } ?? "") + finding.message
        output.line("\(finding.place): \(finding.severity, finding.severity == "error" ? .red : .yellow): \(text)")
    }
    let errors = result.problems.count
    let warnings = result.warnings.count
    output.line(
        """
        \(counted(result.count, "entry", "entries")) in use, \(counted(errors, "error", "errors")), \
        \(counted(warnings, "warning", "warnings"))
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

private func counted(_ count: Int, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
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

    init(_ problem: SubstitutionMap.Problem, in file: URL) {
        severity = "error"
        kind = problem.kind.rawValue
        key = problem.key
        self.file = file.lastPathComponent
        line = problem.line
        column = problem.column
        message = problem.message
    }

    init(_ warning: SubstitutionMap.Warning, in file: URL) {
        severity = "warning"
        kind = warning.kind.rawValue
        key = warning.key
        self.file = file.lastPathComponent
        line = warning.line
        column = nil
        message = warning.message
    }

    /// The file, line and column, as compilers write them.
    var place: String {
        ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
    }
}
