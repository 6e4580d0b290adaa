import Foundation
import LocalSubstitution
import MapTools
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

let addCommand = Subcommand(
    name: "add",
    operands: "URL [FILE]",
    summary: "add an entry to the map, from a file or a URL",
    details: """
        Adds an entry to the map. With FILE, the file answers the URL, or every URL that
        matches a pattern. FILE is copied into the resources folder unless it's already
        there. Without FILE, the URL is loaded, and its body is saved under a readable
        name. The rest of the map doesn't change.

        Examples:

            substitute add https://example.com/logo.png logo.png
            substitute add 'https://example.com/icons/*' icon.png
            substitute add https://example.com/data.json
        """,
    options: [
        Option(name: "force", value: nil, help: "replace an existing entry or file"),
        ByteCount.limitOption,
    ],
    operandValues: ["URL", .file],
    run: add
)

private func add(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard let key = arguments.operands.first else {
        throw Failure(usage: "No URL is given. Use one such as “https://example.com/logo.png”, with or without a file.")
    }
    guard arguments.operands.count <= 2 else {
        throw Failure(usage: "add takes one URL and at most one file. Leave out “\(arguments.operands[2])”.")
    }
    let name = arguments.operands.dropFirst().first
    if let name, ["http://", "https://"].contains(where: name.lowercased().hasPrefix) {
        throw Failure(usage: "add takes one URL. Leave out “\(name)”, or add it with another command.")
    }
    let file = name.map { CurrentFolder.current.file($0) }
    let limit = try ByteCount.limit(arguments)
    let target = MapChoice(arguments)
    guard target.exists else { throw target.missing }
    let resources = target.resources
    if let name, let file, !FileManager.default.fileExists(atPath: file.path) {
        let inside = resources.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: inside.path) {
            throw Failure("The file “\(name)” doesn't exist here. Use \(MapChoice.shellWord(inside)).")
        }
    }
    let replaces = arguments.has("force")

    // Checks before loading what would be refused afterwards.
    let warning = try EditedMap(target.file, resources: resources, isDryRun: true)
        .check(key, isLoaded: file == nil, replacing: replaces)
    let loaded = file == nil ? try await load(key, limit) : nil

    // Locks the map only now, so that other commands don't wait for a slow server.
    var map = try EditedMap(target.file, resources: resources)
    let kept: KeptFile
    if let file {
        kept = try map.add(key, file: file, replacing: replaces)
    } else if let loaded {
        kept = try map.add(
            key,
            loaded.response,
            body: loaded.body,
            redirects: loaded.redirects,
            replacing: replaces
        )
    } else {
        return .failed
    }
    try map.save()
    if let warning { output.message("\(warning)") }
    target.announce(to: output)
    var record = KeptRecord(kept, url: key)
    record.map = target.file.path
    output.table([record.row])
    // A pattern can't be loaded.
    if case .url? = try? MapKey(key) {
        output.message("try it: \(Invocation.current) get\(target.options) \(ShellWord.text(key))")
    }
    try output.json(record)
    return .done
}

private func load(
    _ key: String,
    _ limit: ByteCount
) async throws -> (response: HTTPURLResponse, body: Data, redirects: [URLRequest]) {
    guard let url = URLText.url(key) else {
        throw Failure("“\(key)” isn't a URL. Use one such as “https://example.com/logo.png”.")
    }
    let progress = ProgressLine()
    // Loads what the network has now, without any cache.
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    // A cookie that a redirect sets would be a credential in the next request.
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    let loader = Loader(configuration, limit: limit) { bytes, expected in
        progress.show(Output.format(bytes: bytes) + (expected.map { " of \(Output.format(bytes: Int($0)))" } ?? ""))
    }
    defer {
        loader.end()
        progress.end()
    }
    let answer: Loader.Answer
    switch await loader.load(URLRequest(url: url)) {
    case .success(let loaded): answer = loaded
    case .failure(let error): throw Failure("\(key): \(Fetch.describe(error))")
    }
    guard let response = answer.response as? HTTPURLResponse else {
        throw Failure("\(key): The response isn't HTTP.")
    }
    guard response.statusCode == 200 else {
        throw Failure("\(key): The server answered with status \(response.statusCode). Nothing was added.")
    }
    return (response, answer.body, answer.redirects)
}
