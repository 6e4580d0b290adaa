import Foundation
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let demoCommand = Subcommand(
    name: "demo",
    summary: "load a page twice, without and with the cache",
    details: """
        Starts a small server on 127.0.0.1 and loads a page with its parts twice through
        URLSession: first with the default cache, then with LocalSubstitutionCache as
        URLCache.shared. Prints where each part came from, and writes an HTML file that
        shows both pages and the map side by side. Doesn't need the network.
        """,
    options: [
        .option("output", .file, help: "the HTML file (default: in your cache folder)"),
        .option("map", .file(withExtension: "json"), help: "the map (default: the demo's own)"),
    ],
    run: demo
)

private func demo(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    if let operand = arguments.operands.first {
        throw Failure(usage: "demo takes only options. Leave out “\(operand)”.")
    }
    let (cache, mapFile): (LocalSubstitutionCache, URL)
    if arguments.has("map") || arguments.has("resources") {
        (cache, mapFile) = (try MapChoice.cache(arguments, output), MapChoice(arguments).file)
    } else {
        cache = try LocalSubstitutionCache(bundle: DemoFiles.bundle())
        mapFile = try DemoFiles.url("substitutions.json")
        output.message("the demo's own map, \(cache.map.count) entries")
    }
    let origin = try LoopbackServer(routes: DemoFiles.routes())
    defer { origin.stop() }

    output.line("With the default cache:")
    URLCache.shared = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: nil)
    let first = await load(origin, nil, output)
    output.line("\nWith LocalSubstitutionCache as URLCache.shared:")
    URLCache.shared = cache
    let second = await load(origin, cache, output)
    let original = try await loadOriginal(cache, output)
    output.line("\nWith the default cache: \(first.summary)\nWith LocalSubstitutionCache: \(second.summary)\n")

    let html = try DemoPage(origin: origin.baseURL, first: first, second: second, mapFile: mapFile, cache: cache)
        .html(template: String(contentsOf: DemoFiles.url("SideBySide.html"), encoding: .utf8))
    let page: URL
    if let path = arguments.value("output") {
        page = Shell.file(path)
        try Output.write(Data(html.utf8), to: page)
    } else {
        page = try DemoPage.write(html)
    }
    output.line("Both pages side by side:\n\(page.absoluteURL.absoluteString)")
    let substituted = second.fetches + original
    try output.json([
        "defaultCache": first.fetches.map { $0.json(isTimed: false) },
        "substitutionCache": substituted.map { $0.json(isTimed: false) }, "page": page.path,
    ])
    return (first.fetches + substituted).contains { $0.hasFailed } ? .failed : .done
}

/// Loads the page and its parts, one after another, with the current shared cache.
///
/// - Parameter cache: The shared cache, unless it's the default one.
private func load(_ origin: LoopbackServer, _ cache: LocalSubstitutionCache?, _ output: Output) async -> DemoPage.Load {
    let loader = Loader(.default, cache.map { Loader.Sources(of: $0) })
    defer { loader.end() }
    let earlier = origin.requests.count
    var fetches: [Fetch] = []
    for path in [""] + DemoFiles.parts { fetches.append(await loader.load(URLRequest(url: origin.url(path)))) }
    output.table(of: fetches, showsTimes: false)
    return DemoPage.Load(fetches: fetches, requests: origin.requests.count - earlier)
}

/// Loads the article's URL. Does nothing if the map doesn't name it, since the demo contacts no other host than its own.
private func loadOriginal(_ cache: LocalSubstitutionCache, _ output: Output) async throws -> [Fetch] {
    // The URL in the article of 2010 that this package goes back to. Its host doesn't have to answer.
    guard let url = URL(string: "http://images.apple.com/global/nav/images/globalnavbg.png") else {
        throw Failure("The demo's own URL isn't valid.")
    }
    guard cache.explain(URLRequest(url: url)).verdict == .substituted else { return [] }
    let loader = Loader(.default, Loader.Sources(of: cache))
    defer { loader.end() }
    let fetch = await loader.load(URLRequest(url: url))
    output.line("\nThe URL of the 2010 article, without asking its host:")
    output.table(of: [fetch], showsTimes: false)
    return [fetch]
}

/// The demo's files, which the build puts next to the command.
private enum DemoFiles {
    /// Returns the bundle with the files. `Bundle.module` traps if they're missing, such as next to a copy of the executable.
    static func bundle() throws(Failure) -> Bundle {
        // SwiftPM names a bundle after package and target, and adds “-tool” to the target when it builds for a plugin.
        let places = ["substitute", "substitute-tool"].map { target in
            #if canImport(Darwin)
            let name = "LocalSubstitutionCache_\(target).bundle"
            #else
            let name = "LocalSubstitutionCache_\(target).resources"
            #endif
            return Bundle.main.bundleURL.appendingPathComponent(name, isDirectory: true)
        }
        for place in places {
            if let bundle = Bundle(url: place) { return bundle }
        }
        throw Failure(
            "The demo's files aren't at \(places[0].path). Copy that folder along with the command, or run "
                + "“swift run substitute demo” in the package's folder."
        )
    }

    static func url(_ name: String) throws(Failure) -> URL {
        let bundle = try bundle()
        guard let url = bundle.url(forResource: name, withExtension: nil) else {
            throw Failure("“\(name)” isn't in \(bundle.bundlePath). Build the command again.")
        }
        return url
    }

    /// The page's parts, in the order in which a browser finds them. The page itself is `/`.
    static let parts = ["style.css", "nav-bg.png", "hero.png", "app.js", "status.json"]

    private static let types = [
        "index.html": "text/html; charset=utf-8", "style.css": "text/css; charset=utf-8", "nav-bg.png": "image/png",
        "hero.png": "image/png", "app.js": "text/javascript; charset=utf-8", "status.json": "application/json",
    ]

    /// Returns what the origin serves, by path.
    static func routes() throws -> [String: LoopbackServer.Answer] {
        let folder = try url("Origin")
        var routes: [String: LoopbackServer.Answer] = [:]
        for (name, type) in types {
            let file = try Data(contentsOf: folder.appendingPathComponent(name))
            routes[name == "index.html" ? "/" : "/\(name)"] = .ok(file, type: type)
        }
        return routes
    }
}
