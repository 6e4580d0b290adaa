import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The session through which a subcommand loads, with its cache and recorder.
struct CommandSession: Sendable {
    /// The options that say through what session a subcommand loads.
    static let options = [
        Option(name: "cache-only", value: nil, help: "don't attach: the cache alone answers"),
        Option(name: "record", value: "DIR", help: "keep responses in DIR"),
        Option(name: "offline", value: nil, help: "let nothing reach the network"),
        ByteCount.limitOption,
    ]

    let loader: Loader
    let cache: LocalSubstitutionCache
    let isAttached: Bool
    private let sources: AnswerSources?
    private let recorder: SubstitutionRecorder?

    /// - Parameter isServer: Whether it loads for others, as long as it runs: then a changed map or file is served from the next
    ///   request on, cookies are left to the clients, and nobody is told which answers the default cache gives.
    init(_ arguments: Arguments, _ output: Output, isServer: Bool = false) throws {
        isAttached = !arguments.has("cache-only")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Failure(usage: "--\(other) needs an attached session: leave out --cache-only")
        }
        let folder = arguments.value("record").map { URL(fileURLWithPath: $0, isDirectory: true) }
        recorder = try folder.map { try SubstitutionRecorder(folder: $0, limit: .max) }
        cache = try Self.cache(arguments, output, recordsInto: folder, reloadsChanges: isServer)
        let limit = try ByteCount.limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // What a server says to one who shows a cookie is not kept.
        if isServer || recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: arguments.has("offline") ? .fail : .load,
                recorder: recorder,
                responseLimit: limit.bytes
            )
        }
        // A cache with a listener looks for near misses of every URL that no entry names. A server doesn't need a listener: only
        // the protocol answers what the cache itself doesn't.
        let needsSources = !isServer || isAttached
        sources =
            needsSources
            ? AnswerSources(of: cache) { event in
                if event.kind == .notRecorded { output.message("\(event)") }
            } : nil
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Returns the answer of an entry that needs only the cache; `nil` if there isn't one.
    func localAnswer(to request: URLRequest) -> Loader.Answer? {
        guard let local = cache.localResponse(for: request) else { return nil }
        // So that it isn't taken for another request's.
        sources?.forgetEntry(answering: request)
        let file = AnswerSources.file(of: local.response, in: cache.map)
        return Loader.Answer(response: local.response, body: local.data, source: .substituted(file: file))
    }

    /// Who only records needs no map.
    private static func cache(
        _ arguments: Arguments,
        _ output: Output,
        recordsInto folder: URL?,
        reloadsChanges: Bool
    ) throws -> LocalSubstitutionCache {
        if let folder, !MapChoice(arguments).isThere {
            return LocalSubstitutionCache(map: try SubstitutionMap(files: [:], resources: folder))
        }
        return try MapChoice.loaded(arguments, output).cache(reloadsChanges: reloadsChanges)
    }

    /// Writes what was recorded, and says how much.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        let count = cache.statistics.recorded
        output.message("\(count == 1 ? "1 response" : "\(count) responses") new or changed in \(recorder.mapFile.path)")
    }
}
