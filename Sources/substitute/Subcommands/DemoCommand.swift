import Foundation
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let demoCommand = Subcommand(
    name: "demo",
    operands: "",
    summary: "load a page twice: without and with the cache",
    details: """
        Starts a small origin on 127.0.0.1, loads a page and its parts twice through
        URLSession, first with the default cache, then with LocalSubstitutionCache as
        URLCache.shared, prints where each part came from, and writes an HTML file that
        shows both pages with the map between them. It doesn't need the network. Unless
        --map names another, the map is the one that comes with the command.
        """,
    options: [
        Option(name: "output", value: "FILE", help: "the HTML file; default: in the temporary folder"),
        Option(name: "map", value: "FILE", help: "the map; default: the one that comes with the command"),
    ],
    run: demo
)

private func demo(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments.operands.isEmpty else { throw Failure(usage: "demo takes no operands") }
    let (cache, mapFile): (LocalSubstitutionCache, URL)
    if arguments.has("map") || arguments.has("resources") {
        let choice = try MapChoice.loaded(arguments, output)
        (cache, mapFile) = (try choice.cache(), choice.file)
    } else {
        cache = try LocalSubstitutionCache(bundle: DemoBundle.bundle())
        mapFile = try DemoBundle.url("substitutions.json")
        output.message("the map that comes with the command: \(cache.map.count) entries")
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

    let page = arguments.value("output").map { URL(fileURLWithPath: $0) } ?? temporaryFile
    let map = try DemoMap(mapFile, answering: second.map(\.url), with: cache)
    let html = try DemoPage.html(
        origin: origin.baseURL,
        first: first,
        map: map,
        second: second,
        summaries: summaries
    )
    try Output.write(Data(html.utf8), to: page)
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

/// Loads the page and its parts, one after another, with the shared cache as it is now.
private func load(_ origin: LoopbackServer, _ output: Output) async -> [Fetch] {
    let loader = Loader(.default, (URLCache.shared as? LocalSubstitutionCache).map { AnswerSources(of: $0) })
    defer { loader.end() }
    var fetches: [Fetch] = []
    for path in [""] + DemoSite.parts { fetches.append(await Fetch(URLRequest(url: origin.url(path)), with: loader)) }
    output.table(of: fetches, showsTimes: false)
    return fetches
}

/// Nothing where the map does not name it, since the demo asks no other host than its own.
private func loadOriginal(_ cache: LocalSubstitutionCache, _ output: Output) async throws -> [Fetch] {
    guard let url = DemoSite.originalURL else { throw Failure("the demo's URL is no URL") }
    guard cache.explain(URLRequest(url: url)).verdict == .substituted else { return [] }
    let loader = Loader(.default, AnswerSources(of: cache))
    defer { loader.end() }
    let fetch = await Fetch(URLRequest(url: url), with: loader)
    output.line("\nAnd the URL of the article of 2010, whose host is not asked:")
    output.table(of: [fetch], showsTimes: false)
    return [fetch]
}

private func summary(_ fetches: [Fetch], asked: Int) -> String {
    let local = fetches.filter { fetch in
        if case .substituted = fetch.source { true } else { false }
    }
    let bytes = fetches.filter { $0.source == .network }.reduce(0) { $0 + $1.body.count }
    let times = asked == 1 ? "once" : "\(asked) times"
    return "The origin was asked \(times) and sent \(Output.format(bytes: bytes)); "
        + "\(local.count) of \(fetches.count) came from local files."
}

private var temporaryFile: URL {
    FileManager.default.temporaryDirectory
        .appendingPathComponent("substitute-demo-\(ProcessInfo.processInfo.processIdentifier).html")
}

/// What `--json` says of the demo.
private struct DemoRecord: Encodable {
    let defaultCache: [FetchRecord]
    let substitutionCache: [FetchRecord]
    let page: String
}
