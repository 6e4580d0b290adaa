import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let explainCommand = Subcommand(
    name: "explain",
    operands: "URL…",
    summary: "show what answers a request, and why",
    details: """
        Prints for each URL which entry wins and which ones it shadows, the file, how
        its MIME type is determined, and the verdict with its reason. For a URL that no
        entry names, prints the keys that almost match. Loads nothing.

        Examples:

            substitute explain https://example.com/logo.png
            substitute explain --data @order.json https://example.com/orders
        """,
    options: RequestOptions.all,
    run: explain
)

private func explain(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let cache = try MapChoice.loaded(arguments, output).cache()
    let explanations = requests.map(cache.explain)
    for (index, explanation) in explanations.enumerated() {
        if index > 0 { output.line() }
        output.line("\(lines: explanation.description)")
    }
    try output.json(explanations.map(ExplanationRecord.init))
    return .done
}

/// The JSON that `--json` prints for a request.
private struct ExplanationRecord: Encodable {
    struct Entry: Encodable {
        let key: String
        let line: Int?
        let remark: String?

        init(_ entry: SubstitutionMap.EntryReference, remark: String? = nil) {
            key = entry.key
            line = entry.line
            self.remark = remark
        }
    }

    struct Miss: Encodable {
        let key: String
        let differences: [String]
    }

    let url: String
    let method: String
    let verdict: String
    let reason: String
    let servedBy: String?
    let attached: String?
    let entry: Entry?
    let file: String?
    let status: Int?
    let contentType: String?
    let contentTypeSource: String?
    let shadowed: [Entry]
    let passedOver: [Entry]
    let nearMisses: [Miss]

    init(_ explanation: Explanation) {
        url = explanation.url?.absoluteString ?? ""
        method = explanation.method
        verdict = explanation.verdict.rawValue
        reason = explanation.reason
        servedBy = explanation.instead
        attached = explanation.attached
        entry = explanation.winner.map { Entry($0) }
        file = explanation.file?.path
        status = explanation.status
        contentType = explanation.contentType
        contentTypeSource = explanation.contentTypeSource
        shadowed = explanation.shadowed.map { Entry($0) }
        passedOver = explanation.passedOver.map { Entry($0.entry, remark: $0.reason) }
        nearMisses = explanation.nearMisses.map { Miss(key: $0.key, differences: $0.differences.map(\.rawValue)) }
    }
}
