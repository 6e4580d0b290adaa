import Foundation
import LocalSubstitution
import MapTools

/// What `check --remote` finds and prints.
struct RemoteCheck: Sendable {
    private let comparisons: [RemoteComparison]
    private let mapName: String
    private let updating: Bool
    private let limit: ByteCount

    /// Compares the files of a map with their URLs, and shows progress on a terminal.
    init(_ map: SubstitutionMap, in file: URL, updating: Bool, limit: ByteCount) async {
        let progress = ProgressLine()
        comparisons = await map.comparedWithRemote(limit: limit.bytes, updating: updating) { count, total in
            progress.show("\(count.grouped) of \(total.grouped) compared")
        }
        progress.end()
        mapName = file.lastPathComponent
        self.limit = limit
        self.updating = updating
    }

    /// The exit status. A file that has changed and was replaced isn't a failure.
    var status: ExitStatus {
        if comparisons.contains(where: { Verdict($0).isFailure }) { return .failed }
        return comparisons.contains { Verdict($0) == .unreachable } ? .tryAgain : .done
    }

    /// Prints a line for each file that isn't the same, and the totals.
    func print(_ output: Output) {
        for comparison in comparisons where Verdict(comparison) != .same {
            let verdict = Verdict(comparison)
            output.line(
                """
                \(mapName):\(comparison.line): \(verdict.rawValue, verdict.color): “\(comparison.key)”: \
                \(text(comparison))
                """
            )
        }
        let verdicts = Verdict.allCases.filter { $0.isAlwaysCounted || ($0 == .updated && updating) || count($0) > 0 }
        let counts = verdicts.map { "\(count($0).grouped) \($0 == .unreadable ? "failed" : $0.rawValue)" }
        output.line("\(comparisons.count.grouped) compared: \(counts.joined(separator: ", "))")
    }

    var record: Record { Record(entries: comparisons.map { EntryRecord($0, limit) }) }

    private func count(_ verdict: Verdict) -> Int { comparisons.count { Verdict($0) == verdict } }

    private func text(_ comparison: RemoteComparison) -> String {
        let file = "file “\(comparison.fileName)”"
        switch comparison.result {
        case .same:
            return "The \(file) has the bytes that the URL serves."
        case .changed(let bytes, let offset):
            let had = comparison.update == .replaced ? "had" : "has"
            let difference =
                "The \(file) \(had) \(Output.format(bytes: comparison.fileBytes ?? 0)), "
                + "and the URL serves \(Output.format(bytes: bytes)). They differ from offset \(offset.grouped) on."
            switch comparison.update {
            case nil: return difference
            case .replaced: return "\(difference) The file was replaced."
            case .left(let reason): return "\(difference) The file wasn't replaced. \(reason)"
            }
        case .gone(let status):
            return "The server answered with status \(status), so the \(file) is the only copy. "
                + "Remove the entry if nothing requests its URL."
        case .tooLong:
            return limit.refusal
        case .unreachable(let reason), .unreadable(let reason):
            return reason
        }
    }

    /// The JSON that `--json` prints in addition.
    struct Record: Encodable {
        let entries: [EntryRecord]
    }

    struct EntryRecord: Encodable {
        let key: String
        let line: Int
        let url: String
        let file: String
        /// One of `Verdict`.
        let result: String
        let bytes: Int?
        var remoteBytes: Int?
        var firstDifference: Int?
        var status: Int?
        /// Why there is no result, or why a file that has changed wasn't replaced.
        var reason: String?

        init(_ comparison: RemoteComparison, _ limit: ByteCount) {
            key = comparison.key
            line = comparison.line
            url = comparison.url
            file = comparison.fileName
            result = Verdict(comparison).rawValue
            bytes = comparison.fileBytes
            switch comparison.result {
            case .same: remoteBytes = comparison.fileBytes
            case .changed(let bytes, let offset): (remoteBytes, firstDifference) = (bytes, offset)
            case .gone(let code): status = code
            case .tooLong: reason = limit.refusal
            case .unreachable(let why), .unreadable(let why): reason = why
            }
            if case .left(let why) = comparison.update { reason = why }
        }
    }
}

/// The result of a comparison in one word, including what was done about it.
private enum Verdict: String, CaseIterable {
    case same, changed, updated, gone, unreachable
    case unreadable = "error"

    init(_ comparison: RemoteComparison) {
        self =
            switch comparison.result {
            case .same: .same
            case .changed: comparison.update == .replaced ? .updated : .changed
            case .gone: .gone
            case .unreachable: .unreachable
            case .unreadable, .tooLong: .unreadable
            }
    }

    var isFailure: Bool { [.changed, .gone, .unreadable].contains(self) }
    var isAlwaysCounted: Bool { [.same, .changed, .gone, .unreachable].contains(self) }

    var color: PrintedText.Color {
        switch self {
        case .same, .updated: .green
        case .changed, .gone, .unreadable: .red
        case .unreachable: .yellow
        }
    }
}
