import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let explainCommand = Subcommand(
    name: "explain",
    operands: ["URL…"],
    summary: "show what responds to a request, and why",
    details: """
        Prints for each URL what responds in an attached session and cache only (a
        session that only has the cache as its urlCache), which entry wins and which
        ones it shadows, the file, and how its MIME type is determined. For a URL that
        no entry matches, prints the keys that almost match. Loads nothing.

        substitute serve responds as the line “attached” says. But with serve --offline,
        a request that no entry matches fails instead of using the network. Name the
        original URL, as the log of serve shows it, not the local one with 127.0.0.1.

        Examples:

            substitute explain https://example.com/logo.png
            substitute explain --data @order.json https://example.com/orders
        """,
    options: RequestOptions.all,
    run: explain
)

private func explain(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let cache = try MapChoice(arguments).cache(output)
    let explanations = requests.map(cache.explain)
    for (index, explanation) in explanations.enumerated() {
        if index > 0 { output.line() }
        output.line("\(lines: explanation.description)")
        if explanation.isAboutBody, let body = requests[index].httpBody {
            output.line("\(lines: ShownBody.line(of: body))")
        }
    }
    try output.json(explanations.map(json))
    return .done
}

/// Returns the JSON object that `--json` prints for a request's explanation.
private func json(_ explanation: Explanation) -> Output.JSONObject {
    func json(_ entry: SubstitutionMap.EntryReference, _ remark: String? = nil) -> Output.JSONObject {
        ["key": entry.key, "line": entry.line, "remark": remark]
    }
    func json(_ judgement: Explanation.Judgement) -> Output.JSONObject {
        ["outcome": judgement.outcome.rawValue, "reason": judgement.reason, "servedBy": judgement.servedBy]
    }
    return [
        "url": explanation.url?.absoluteString ?? "", "method": explanation.method,
        "attached": json(explanation.attached), "cacheOnly": json(explanation.cacheOnly),
        "entry": explanation.winner.map { json($0) },
        "file": explanation.file?.path, "status": explanation.status, "contentType": explanation.contentType,
        "contentTypeSource": explanation.contentTypeSource, "shadowed": explanation.shadowed.map { json($0) },
        "skipped": explanation.skipped.map { json($0.entry, $0.reason) },
        "nearMisses": explanation.nearMisses.map {
            ["key": $0.key, "differences": $0.differences.map(\.rawValue)] as Output.JSONObject
        },
    ]
}
