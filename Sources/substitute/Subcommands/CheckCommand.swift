import Foundation
import LocalSubstitution

let checkCommand = Subcommand(
    name: "check",
    operands: "",
    summary: "validate a map and its files",
    details: """
        Lists everything that is wrong with a map, each with its line, and warns of what
        is odd: files that no entry names, patterns that can never win or that miss
        URLs with a query, entries that the loader refuses, files that are not what
        their MIME type says. Exit status 1 if there is an error.

        With --remote it also compares the files of exact entries with what their URLs
        serve now, without cache or cookies: status 1 if one has changed or is gone (404
        or 410), 75 if nothing is wrong but that some could not be reached. --update
        replaces files that have changed, unless the URLs of one serve different bytes;
        a replaced file no longer counts as an error. A body over --limit is an error.
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
        throw Failure(usage: "check takes no operands: name the map with --map FILE")
    }
    guard arguments.has("remote") || !arguments.has("update") else {
        throw Failure(usage: "--update goes with --remote: check --remote --update")
    }
    let limit = try ByteCount.limit(arguments)
    guard arguments.has("remote") || !arguments.has("limit") else {
        throw Failure(usage: "--limit goes with --remote: check --remote --limit \(arguments.value("limit") ?? "")")
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

/// What `--json` says of a map.
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

    /// As compilers write it: file, line and column.
    var place: String {
        ([file] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
    }
}
