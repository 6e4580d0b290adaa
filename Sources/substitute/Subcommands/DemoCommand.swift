import Foundation
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let demoCommand = Subcommand(
    name: "demo",
    operands: "",
    summary: "load a page twice, without and with the cache",
    details: """
        Starts a small server on 127.0.0.1 and loads a page with its parts twice through
        URLSession: first with the default cache, then with LocalSubstitutionCache as
        URLCache.shared. Prints where each part came from, and writes an HTML file that
        shows both pages and the map side by side. Doesn't need the network.
        """,
    options: [
        Option(name: "output", value: .file, help: "the HTML file (default: in your cache folder)"),
        Option(name: "map", value: .file(withExtension: "json"), help: "the map (default: the demo's own)"),
    ],
    run: demo
)

private func demo(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    if let operand = arguments.operands.first {
        throw Failure(usage: "demo takes only options. Leave out “\(operand)”.")
    }
    let (cache, mapFile): (LocalSubstitutionCache, URL)
    if arguments.has("map") || arguments.has("resources") {
        let choice = try MapChoice.loaded(arguments, output)
        (cache, mapFile) = (try choice.cache(), choice.file)
    } else {
        cache = try LocalSubstitutionCache(bundle: DemoBundle.bundle())
        mapFile = try DemoBundle.url("substitutions.json")
        output.message("the demo's own map, \(cache.map.count) entries")
    }
    let origin = try LoopbackServer(routes: DemoSite.routes())
    defer { origin.stop() }

    output.line("With the default cache:")
    URLCache.shared = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: nil)
    let first = await load(origin, output)
    let askedFirst = origin.requests.count

    output.line("\nWith LocalSubstitutionCache as URLCache.shared:")
    URLCache.shared = cache
    let second = await load(origin, output)
    let askedSecond = origin.requests.count - askedFirst

    let original = try await loadOriginal(cache, output)
    let summaries = (first: summary(first, asked: askedFirst), second: summary(second, asked: askedSecond))
    output.line("\nWith the default cache: \(summaries.first)\nWith LocalSubstitutionCache: \(summaries.second)\n")

    let map = try DemoMap(mapFile, answering: second.map(\.url), with: cache)
    let html = try DemoPage.html(
        origin: origin.baseURL,
        first: first,
        map: map,
        second: second,
        summaries: summaries
    )
    let page: URL
    if let path = arguments.value("output") {
        page = CurrentFolder.current.file(path)
        try Output.write(Data(html.utf8), to: page)
    } else {
        page = try DemoPage.write(html)
    }
    output.line("Both pages side by side:\n\(page.absoluteURL.absoluteString)")
    try output.json(
        DemoRecord(
            defaultCache: first.map { FetchRecord($0, isTimed: false) },
            substitutionCache: (second + original).map { FetchRecord($0, isTimed: false) },
            page: page.path
        )
    )
    let hasFailed = (first + second + original).contains { $0.hasFailed }
    return hasFailed ? .failed : .done
}

/// Loads the page and its parts, one after another, with the current shared cache.
private func load(_ origin: LoopbackServer, _ output: Output) async -> [Fetch] {
    let loader = Loader(.default, (URLCache.shared as? LocalSubstitutionCache).map { AnswerSources(of: $0) })
    defer { loader.end() }
    var fetches: [Fetch] = []
    for path in [""] + DemoSite.parts { fetches.append(await Fetch(URLRequest(url: origin.url(path)), with: loader)) }
    output.table(of: fetches, showsTimes: false)
    return fetches
}

/// Loads the article's URL. Does nothing if the map doesn't name it, since the demo contacts no other host than its own.
private func loadOriginal(_ cache: LocalSubstitutionCache, _ output: Output) async throws -> [Fetch] {
    guard let url = DemoSite.originalURL else { throw Failure("The demo's own URL isn't valid.") }
    guard cache.explain(URLRequest(url: url)).verdict == .substituted else { return [] }
    let loader = Loader(.default, AnswerSources(of: cache))
    defer { loader.end() }
    let fetch = await Fetch(URLRequest(url: url), with: loader)
    output.line("\nThe URL of the 2010 article, without asking its host:")
    output.table(of: [fetch], showsTimes: false)
    return [fetch]
}

private func summary(_ fetches: [Fetch], asked: Int) -> String {
    let local = fetches.filter { fetch in
        if case .substituted = fetch.source { true } else { false }
    }
    let bytes = fetches.filter { $0.source == .network }.reduce(0) { $0 + $1.body.count }
    let requests = asked == 1 ? "1 request" : "\(asked) requests"
    return "The origin got \(requests) and sent \(Output.format(bytes: bytes)). "
        + "\(local.count) of \(fetches.count) responses came from local files."
}

/// The JSON that `--json` prints for the demo.
private struct DemoRecord: Encodable {
    let defaultCache: [FetchRecord]
    let substitutionCache: [FetchRecord]
    let page: String
}
