import Foundation
import LocalSubstitution
import MapTools
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let addCommand = Subcommand(
    name: "add",
    operands: ["URL", .file("[FILE]")],
    summary: "add an entry to the map, from a file or a URL",
    details: """
        Adds an entry to the map. With FILE, the entry returns that file for the URL, or
        for every URL that matches a pattern. FILE is copied into the resources folder
        unless it's already there. Without FILE, the URL is loaded, and its body is
        saved under a readable name. The rest of the map doesn't change.

        Examples:

            substitute add https://example.com/logo.png logo.png
            substitute add 'https://example.com/icons/*' icon.png
            substitute add https://example.com/data.json
        """,
    options: [
        .flag("force", help: "replace an existing entry or file"),
        Loader.Limit.option,
    ],
    run: add
)

private func add(_ arguments: Arguments, _ output: Output) async throws -> Subcommand.ExitStatus {
    guard let key = arguments.operands.first else {
        throw Complaint(usage: "No URL is given. Name one, such as “https://example.com/logo.png”.")
    }
    guard arguments.operands.count <= 2 else {
        throw Complaint(usage: "add takes one URL and at most one file. Leave out “\(arguments.operands[2])”.")
    }
    let name = arguments.operands.dropFirst().first
    if let name, ["http://", "https://"].contains(where: name.lowercased().hasPrefix) {
        throw Complaint(usage: "add takes one URL. Leave out “\(name)”, or add it with another command.")
    }
    let file = name.map { Shell.file($0) }
    let limit = try Loader.Limit(arguments)
    let target = MapChoice(arguments)
    guard target.exists else { throw target.missing }
    let resources = target.resources
    if let name, let file, !FileManager.default.fileExists(atPath: file.path) {
        let inside = resources.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: inside.path) {
            throw Complaint("The file “\(name)” doesn't exist here. Use \(Shell.word(for: inside)).")
        }
    }
    let replaces = arguments.has("force")

    // Check the key first, so that nothing is loaded that the map then refuses.
    let tell: (String) -> Void = { output.message("\($0)") }
    let warning = try EditedMap(target.file, resources: resources, isDryRun: true, onWait: tell)
        .check(key, isLoaded: file == nil, replacing: replaces)
    // Lock the map only after the load, so that other commands don't wait for a slow server.
    var map: EditedMap
    let responseFile: EditedMap.ResponseFile
    if let file {
        map = try EditedMap(target.file, resources: resources, onWait: tell)
        responseFile = try map.add(key, file: file, replacing: replaces)
    } else {
        let loaded = try await load(key, limit)
        map = try EditedMap(target.file, resources: resources, onWait: tell)
        responseFile = try map.add(key, loaded, replacing: replaces)
    }
    try map.save()
    if let warning { output.message("\(warning)") }
    target.announce(to: output)
    let added = HTTPArchive.Item(key, .success(responseFile))
    output.table([added.row])
    // `get` loads a URL, so it can't try a pattern.
    if case .url? = try? MapKey(key) {
        let (serve, get) = ("serve\(target.options)", "get\(target.options) \(Shell.word(key))")
        output.message("try it: \(Shell.invocation) \(serve), or \(Shell.invocation) \(get)")
    }
    try output.json(added.json(map: target.file.path))
    return .done
}

private func load(_ key: String, _ limit: Loader.Limit) async throws(Complaint) -> Exchange {
    guard let url = URLText.url(key) else {
        throw Complaint("“\(key)” isn't a URL. Use one such as “https://example.com/logo.png”.")
    }
    // The session has no cache, so it loads what the server has now.
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    // A redirect may set a cookie. With stored cookies, the next request would send it, and the response might be
    // private.
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    let progress = Output.Progress()
    let loader = Loader(configuration, limit: limit) { bytes, expected in
        progress.show(Output.format(bytes: bytes) + (expected.map { " of \(Output.format(bytes: Int($0)))" } ?? ""))
    }
    defer {
        loader.end()
        progress.end()
    }
    let fetch = await loader.load(URLRequest(url: url))
    if let reason = fetch.source.reason { throw Complaint("\(key): \(reason)") }
    guard let loaded = fetch.exchange else {
        throw Complaint("\(key): The response isn't HTTP. Use an http or https URL.")
    }
    guard loaded.response.statusCode == 200 else {
        let status = "The server responded with status \(loaded.response.statusCode)"
        throw Complaint("\(key): \(status). Nothing was added. Correct the URL, or name a file.")
    }
    return loaded
}
