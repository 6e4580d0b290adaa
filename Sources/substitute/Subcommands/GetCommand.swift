import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let getCommand = Subcommand(
    name: "get",
    operands: "URL…",
    summary: "load URLs through URLSession with the cache in place",
    details: """
        Loads each URL through a URLSession to which a LocalSubstitutionCache is
        attached, and prints where the answer came from (substituted ← file, default
        cache or network), its status, MIME type, size and time. An HTTP error is an
        answer. --data, --header and --method make requests as curl does: several --data
        are joined with &, and line breaks of a file are left out.

        With --cache-only the session only has the cache, which isn't asked about
        requests with Authorization, a POST and others. With --record the responses
        become files and a map in DIR, which answer when the network fails; with
        --offline as well, only they and the map do.
        """,
    options: RequestOptions.all + CommandSession.options + [
        Option(name: "output", value: "FILE", help: "write the body to FILE; - is standard output")
    ],
    run: get
)

private func get(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let requests = try RequestOptions.requests(arguments)
    let target = arguments.value("output")
    guard target == nil || requests.count == 1 else { throw Failure(usage: "--output takes one URL") }
    guard target != "-" || !output.printsJSON else {
        throw Failure(usage: "--output - and --json both need standard output")
    }

    let loading = try CommandSession(arguments, output)
    var fetches: [Fetch] = []
    for request in requests {
        var fetch = await Fetch(request, with: loading.loader)
        if !loading.isAttached { fetch.addAdvice(from: loading.cache.explain(request)) }
        fetches.append(fetch)
    }
    loading.end(output)
    for case let fetch in fetches {
        if case .failed(let reason) = fetch.source { output.message("\(fetch.url.absoluteString): \(lines: reason)") }
    }
    if let target, let fetch = fetches.first, !fetch.hasFailed {
        if target == "-" {
            output.bytes(fetch.body)
        } else {
            try Output.write(fetch.body, to: URL(fileURLWithPath: target))
        }
    }
    if target != "-" { output.table(of: fetches) }
    try output.json(fetches.map { FetchRecord($0) })
    return fetches.contains { $0.hasFailed } ? .failed : .done
}

extension Fetch {
    /// Adds to a failure's reason which entry names the URL, why the cache can't answer, and that an attached session would.
    fileprivate mutating func addAdvice(from explanation: Explanation) {
        guard case .failed(let reason) = source, let entry = explanation.winner, let attached = explanation.attached
        else {
            return
        }
        source = .failed(
            "\(reason). The entry “\(entry.key)” names it, but the cache can't answer: \(explanation.reason). "
                + "Without --cache-only, it's served by \(attached)."
        )
    }
}
