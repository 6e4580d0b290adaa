import Foundation
import Guarded
import LocalSubstitution
import Loopback

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
        .option("output", .file(), help: "the HTML file (default: in your cache folder)"),
        .option("map", .mapFile, help: "the map (default: the demo's own)"),
    ],
    run: demo
)

private func demo(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    if let operand = arguments.operands.first {
        throw Complaint(usage: "demo takes only options. Leave out “\(operand)”.")
    }
    let (cache, mapFile): (LocalSubstitutionCache, URL)
    if arguments.has("map") || arguments.has("resources") {
        let choice = MapChoice(arguments)
        (cache, mapFile) = (try choice.cache(output), choice.file)
    } else {
        cache = try LocalSubstitutionCache(bundle: DemoFiles.bundle())
        mapFile = try DemoFiles.url("substitutions.json")
        output.message("the demo's own map, \(cache.map.count) entries")
    }
    let origin = try DemoOrigin()
    let listener = try Listener(serve: origin.answer)
    defer { listener.stop() }
    let port = try listener.listen(on: 0)
    // `original` is the URL in the 2010 article that this package goes back to. Its host may not exist any more.
    guard let page = URL(string: "http://127.0.0.1:\(port)/"),
        let original = URL(string: "http://images.apple.com/global/nav/images/globalnavbg.png")
    else { throw Complaint("A URL in the demo's code isn't valid. Report a bug.") }
    let urls = [page] + DemoFiles.parts.map { page.appendingPathComponent($0) }

    output.line("With the default cache:")
    URLCache.shared = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: nil)
    let first = DemoPage.Load(fetches: await load(urls, nil, output), requests: origin.requests)
    output.line("\nWith LocalSubstitutionCache as URLCache.shared:")
    URLCache.shared = cache
    let fetches = await load(urls, cache, output)
    let second = DemoPage.Load(fetches: fetches, requests: origin.requests - first.requests)
    var substituted = second.fetches
    // Load this URL only if an entry matches it: the demo contacts no host but its own server.
    if cache.explain(URLRequest(url: original)).cacheOnly.outcome == .matched {
        output.line("\nThe URL in the article of 2010, without a request to its host:")
        substituted += await load([original], cache, output)
    }
    output.line("\nWith the default cache: \(first.summary)\nWith LocalSubstitutionCache: \(second.summary)\n")

    let html = try DemoPage(origin: page, first: first, second: second, mapFile: mapFile, cache: cache)
        .html(template: String(contentsOf: DemoFiles.url("SideBySide.html"), encoding: .utf8))
    let file: URL
    if let path = arguments.value("output") {
        file = Shell.file(path)
        try Output.write(Data(html.utf8), to: file)
    } else {
        file = try DemoPage.write(html)
    }
    output.line("Both pages side by side:\n\(file.absoluteURL.absoluteString)")
    try output.json([
        "defaultCache": first.fetches.map { $0.json(isTimed: false) },
        "substitutionCache": substituted.map { $0.json(isTimed: false) }, "page": file.path,
    ])
    return (first.fetches + substituted).contains { $0.hasFailed } ? .failed : .done
}

/// Loads URLs one after another with `URLCache.shared`, and prints a table of the fetches.
///
/// - Parameter cache: The cache that is `URLCache.shared`; `nil` if that's a plain `URLCache`.
private func load(_ urls: [URL], _ cache: LocalSubstitutionCache?, _ output: Output) async -> [Fetch] {
    let loader = Loader(.default, cache.map { Loader.Sources(of: $0) })
    defer { loader.end() }
    var fetches: [Fetch] = []
    for url in urls { fetches.append(await loader.load(URLRequest(url: url))) }
    output.table(of: fetches, showsTimes: false)
    return fetches
}

/// The server of the demo's site. It counts its requests, and responds to one request for each connection.
private final class DemoOrigin: Sendable {
    private let responses: [String: Data]
    private let counted = Guarded(0)

    init() throws { responses = try DemoFiles.responses() }

    var requests: Int { counted.withLock { $0 } }

    @Sendable func answer(_ connection: Listener.Connection) {
        var reader = RequestReader(connection.socket)
        guard let request = try? reader.nextHead() else { return }
        connection.busy()
        counted.withLock { $0 += 1 }
        let missing = ResponseHead(status: 404, fields: [("Content-Length", "0"), ("Connection", "close")])
        try? connection.socket.write(responses[request.path] ?? missing.encoded)
    }
}

/// The demo's files. The build puts them in a bundle next to the executable.
private enum DemoFiles {
    /// Returns the bundle with the files. Doesn't use `Bundle.module`, which would end the process if the bundle is
    /// missing.
    ///
    /// - Throws: A failure if the bundle is missing, for example because only the executable was copied.
    static func bundle() throws(Complaint) -> Bundle {
        // SwiftPM names the bundle after the package and the target. In a build for a plugin, it adds “-tool” to the
        // target. The extension depends on the platform.
        let places = ["substitute", "substitute-tool"].flatMap { target in
            ["resources", "bundle"].map { type in
                let name = "LocalSubstitutionCache_\(target).\(type)"
                return Bundle.main.bundleURL.appendingPathComponent(name, isDirectory: true)
            }
        }
        if let bundle = places.lazy.compactMap(Bundle.init(url:)).first { return bundle }
        throw Complaint(
            "The demo's files aren't at \(places[0].path). Copy this folder from where the command was built, or "
                + "run “swift run substitute demo” in the package's folder."
        )
    }

    /// Returns the URL of a file or folder in the bundle. Throws a failure if the bundle is missing or lacks it.
    static func url(_ name: String) throws(Complaint) -> URL {
        let bundle = try bundle()
        guard let url = bundle.url(forResource: name, withExtension: nil) else {
            throw Complaint("“\(name)” isn't in \(bundle.bundlePath). Build the command again.")
        }
        return url
    }

    /// With their content types: the page, then its parts in the order in which a browser finds them.
    private static let files = [
        ("index.html", "text/html; charset=utf-8"), ("style.css", "text/css; charset=utf-8"),
        ("nav-bg.png", "image/png"), ("hero.png", "image/png"), ("app.js", "text/javascript; charset=utf-8"),
        ("status.json", "application/json"),
    ]

    /// The names of the page's parts, which are also their paths. The page itself isn't among them: its path is `/`.
    static let parts = files.dropFirst().map(\.0)

    /// Returns the server's responses by path, each as the bytes of its head and body.
    ///
    /// - Throws: An error if a file is missing, or can't be read.
    static func responses() throws -> [String: Data] {
        let folder = try url("Origin")
        var responses: [String: Data] = [:]
        for (name, type) in files {
            let file = try Data(contentsOf: folder.appendingPathComponent(name))
            let fields = [("Content-Type", type), ("Content-Length", String(file.count)), ("Connection", "close")]
            responses[name == "index.html" ? "/" : "/\(name)"] =
                ResponseHead(status: 200, fields: fields).encoded + file
        }
        return responses
    }
}
