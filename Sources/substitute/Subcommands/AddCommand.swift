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
    summary: "add an entry to the map, for a file or for what a URL gives",
    details: """
        Adds an entry to the map. With FILE, that file answers the URL, or all URLs of a
        match pattern: it is copied into the resources folder, unless it is there.
        Without, the URL is loaded, and what comes is kept under a readable name. The
        rest of the map stays as it is.
        """,
    options: [
        Option(name: "force", value: nil, help: "replace an existing entry or file"),
        ByteCount.limitOption,
    ],
    run: add
)

private func add(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard let key = arguments.operands.first else {
        throw Failure(usage: "which URL? Name it, as https://example.com/logo.png, and perhaps a file for it")
    }
    guard arguments.operands.count <= 2 else { throw Failure(usage: "add takes one URL and one file") }
    let file = arguments.operands.dropFirst().first.map { URL(fileURLWithPath: $0) }
    let limit = try ByteCount.limit(arguments)
    let target = MapChoice(arguments)
    guard target.exists else { throw target.missing }
    let resources = target.resources
    let replaces = arguments.has("force")

    // Before anything is loaded, what would be refused afterwards.
    let warning = try EditedMap(target.file, resources: resources, isDryRun: true)
        .check(key, isLoaded: file == nil, replacing: replaces)
    let loaded = file == nil ? try await load(key, limit) : nil

    // Only now is the map taken: nobody waits for a slow server.
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
    output.message("map \(target.file.path)")
    var record = KeptRecord(kept, url: key)
    record.map = target.file.path
    output.table([record.row])
    try output.json(record)
    return .done
}

private func load(
    _ key: String,
    _ limit: ByteCount
) async throws -> (response: HTTPURLResponse, body: Data, redirects: [URLRequest]) {
    guard let url = URLText.url(key) else {
        throw Failure("“\(key)” isn't a URL: use one such as https://example.com/logo.png")
    }
    let progress = ProgressLine()
    // As the network has it now, without any cache.
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
        throw Failure("\(key): the response isn't HTTP")
    }
    guard response.statusCode == 200 else {
        throw Failure("\(key): the server answered with status \(response.statusCode): nothing was added")
    }
    return (response, answer.body, answer.redirects)
}
