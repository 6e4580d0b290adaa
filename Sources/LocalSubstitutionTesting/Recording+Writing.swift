#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

/// Writes a recording, and says what was written, replaced and left.
extension Recording {
    /// Writes the recording. Returns the text of an issue, so that nobody leaves the recording run on by mistake. Returns
    /// `nil` if the test made no requests and lost nothing.
    func write() -> String? {
        guard let mode = RecordingMode.ofRun else { return nil }
        let arguments = arguments
        let mayLose = mode == .all && FileStatus(path: place.file.path) != nil
        guard mayLose || arguments.contains(where: \.hasRequests) else { return nil }
        do {
            return try write(arguments, mode, mayLose: mayLose)
        } catch {
            let state = mayLose ? " The recording is as it was before." : ""
            return "Nothing was recorded in \(place.file.path).\(state) \(error)"
        }
    }

    /// - Parameter mayLose: Whether there's a recording that the run replaces.
    private func write(_ arguments: [Argument], _ mode: RecordingMode, mayLose: Bool) throws -> String {
        var report = Report(path: place.file.path, test: test.text)
        let items = arguments.map(\.items)
        for item in items.joined() { report.add(item) }
        let exchanges = items.map { $0.compactMap(\.exchange) }
        // A run that replaces nothing and adds nothing needs no file.
        guard mayLose || exchanges.contains(where: { !$0.isEmpty }) else { return report.text() }
        var recorded = try read(mode)
        if mode == .all, recorded.isReplacing, let reason = reasonToStay(arguments, items, recorded) {
            return report.text(since: reason)
        }
        let (outcomes, conflicts) = recorded.add(exchanges.map { $0.map(\.exchange) })
        for (exchange, outcome) in zip(exchanges.joined(), outcomes.joined()) { report.add(exchange.item, outcome) }
        for conflict in conflicts { report.add(conflict, arguments.map(\.name)) }
        report.removed = mode == .all ? recorded.removed.map(\.description) : []
        report.isRemoved = recorded.isReplacing && recorded.isEmpty
        try recorded.save()
        return report.text()
    }

    /// Returns why the recording on disk mustn't be replaced, as a clause without a period; `nil` if it may be.
    private func reasonToStay(_ arguments: [Argument], _ items: [[RecordedItem]], _ recorded: RecordedMap) -> String? {
        // Without a trait, other arguments may still be running.
        if isOfTrait, arguments.isEmpty || arguments.contains(where: { !$0.hasEnded }) {
            return "the test or one of its arguments didn't run"
        }
        if arguments.contains(where: \.hasThrown) { return "the test threw an error or was cancelled" }
        if let failed = items.joined().first(where: \.isFailure) { return "\(failed.signature) wasn't loaded" }
        for exchanges in items.map({ $0.compactMap(\.exchange) }) {
            for (place, exchange) in exchanges.enumerated() {
                let earlier = exchanges[..<place].count { $0.exchange.hasRequest(of: exchange.exchange) }
                if recorded.losesSuccess(exchange.exchange, after: earlier) {
                    let status = exchange.exchange.response.status
                    return "\(exchange.item.signature) got the status \(status), where a status below 300 is recorded"
                }
            }
        }
        return nil
    }
}

extension RecordedItem {
    /// The exchange to record, with this item; `nil` if there's none.
    fileprivate var exchange: (item: RecordedItem, exchange: RecordedExchange)? {
        if case .exchange(let exchange, _, _) = outcome { (self, exchange) } else { nil }
    }

    fileprivate var isFailure: Bool { if case .nothing(_, true) = outcome { true } else { false } }
}

extension Recording {
    /// The issue about a recording.
    private struct Report {
        let path: String
        let test: String
        /// The requests that were in the recording before, and aren't any more.
        var removed: [String] = []
        /// Whether the recording is removed, since it would be empty.
        var isRemoved = false
        private var recorded: Set<String> = []
        private var hasChanged = false
        private var problems: [String] = []
        private var leftOut: Set<String> = []
        private var secrets: Set<String> = []

        init(path: String, test: String) { (self.path, self.test) = (path, test) }

        mutating func add(_ item: RecordedItem) {
            switch item.outcome {
            case .nothing(let reason, _): problems.append("  \(item.signature): \(reason)")
            case .exchange(_, let leftOut, let secrets):
                self.leftOut.formUnion(leftOut)
                for name in secrets {
                    self.secrets.insert(
                        "  The member “\(name)” of the response to \(item.signature) in the test \(test) may be a credential."
                    )
                }
            }
        }

        mutating func add(_ item: RecordedItem, _ outcome: Result<RecordedMap.Added, Complaint>) {
            switch outcome {
            case .success(let added):
                let place = added.file.isEmpty ? "" : " → \(added.file)"
                let notes = [
                    added.change == .new ? nil : added.change.rawValue, added.note,
                    item.mayBeOfAnotherTest ? Self.maybeOfAnotherTest : nil,
                ].compactMap { $0 }
                hasChanged = hasChanged || added.change != .unchanged
                recorded.insert(
                    "  \(item.signature)\(place)" + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
                )
            case .failure(let error): problems.append("  \(item.signature): not recorded: \(error)")
            }
        }

        private static let maybeOfAnotherTest =
            "it may be another test's request, since URLSession.shared doesn't say which test made it"

        mutating func add(_ conflict: RecordedMap.Conflict, _ names: [String?]) {
            let condition = conflict.when.map { " when \($0.count > 200 ? $0.prefix(200) + "…" : $0)" } ?? ""
            let reason = conflict.isRedacted ? ", and the requests' bodies differ only in what may be credentials" : ""
            let list = conflict.arguments.enumerated().map { place, argument in
                let name = names[argument.place] ?? "call \(argument.place + 1)"
                let statuses = argument.statuses.map(String.init).joined(separator: ", ")
                return "\n    \(name): \(statuses)\(place == 0 ? " (recorded)" : "")"
            }
            let url = URL(string: conflict.url).map { ShownURL($0).text } ?? conflict.url
            problems.append(
                "  \(conflict.method) \(url)\(condition) got different responses with these arguments\(reason). Make the "
                    + "requests differ, or give each argument a test of its own:\(list.joined())"
            )
        }

        func text() -> String {
            if isRemoved {
                let text = "The recording \(path) was removed, since the test loaded nothing that can be recorded."
                return lines("\(text) Run the test again without \(RecordingMode.variable).")
            }
            guard !recorded.isEmpty || !problems.isEmpty else {
                return "No request needed recording. Run the test again without \(RecordingMode.variable)."
            }
            let responses = recorded.count.counted("response", "responses")
            let beginning = recorded.isEmpty ? "Nothing was recorded" : "Recorded \(responses)"
            let isSame = !recorded.isEmpty && !hasChanged && removed.isEmpty
            let advice =
                if !secrets.isEmpty, hasChanged {
                    "Redact what's named below, look through the changes, then run the test again"
                } else if hasChanged || !removed.isEmpty {
                    "Look through the changes, then run the test again"
                } else if !problems.isEmpty {
                    "Fix the problems below and record again, or run the test"
                } else {
                    "Run the test again"
                }
            return lines(
                "\(beginning) in \(path).\(isSame ? " Nothing changed." : "") \(advice) without \(RecordingMode.variable)."
            )
        }

        /// The text if the recording stays as it was.
        func text(since reason: String) -> String {
            let text = "The recording \(path) stays as it was, since \(reason). Fix that, and record again."
            return lines(text, isWritten: false)
        }

        private func lines(_ first: String, isWritten: Bool = true) -> String {
            let again = "record with \(RecordingMode.variable)=\(RecordingMode.all.rawValue)."
            let advice =
                isWritten
                ? "The file has the real value, so don't commit it. Add “redacting:”, then \(again)"
                : "Add “redacting:” before you \(again)"
            var lines = [first] + secrets.sorted().map { "\($0) \(advice)" } + recorded.sorted()
            lines += removed.map { "  removed: \($0)" } + problems
            if !leftOut.isEmpty { lines.append("  headers left out: \(leftOut.sorted().joined(separator: ", "))") }
            return lines.joined(separator: "\n")
        }
    }
}
#endif
