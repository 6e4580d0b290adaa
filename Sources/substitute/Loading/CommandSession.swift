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
    private let sources: AnswerSources
    private let recorder: SubstitutionRecorder?

    init(_ arguments: Arguments, _ output: Output) throws {
        isAttached = !arguments.has("cache-only")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Failure(usage: "--\(other) needs an attached session: leave out --cache-only")
        }
        let folder = arguments.value("record").map { URL(fileURLWithPath: $0, isDirectory: true) }
        recorder = try folder.map { try SubstitutionRecorder(folder: $0, limit: .max) }
        cache = try Self.cache(arguments, output, recordsInto: folder)
        let limit = try ByteCount.limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // What a server says to one who shows a cookie is not kept.
        if recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: arguments.has("offline") ? .fail : .load,
                recorder: recorder,
                responseLimit: limit.bytes,
                isBrowsed: arguments.has("parts")
            )
        }
        sources = AnswerSources(of: cache) { event in
            if event.kind == .notRecorded { output.message("\(event)") }
        }
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Who only records needs no map.
    static func cache(
        _ arguments: Arguments,
        _ output: Output,
        recordsInto folder: URL?,
        reloadsChanges: Bool = false
    ) throws -> LocalSubstitutionCache {
        if let folder, !MapChoice(arguments).isThere {
            return LocalSubstitutionCache(
                map: try SubstitutionMap(files: [:], resources: folder),
                reloadsChanges: reloadsChanges
            )
        }
        return try MapChoice.loaded(arguments, output).cache(reloadsChanges: reloadsChanges)
    }

    /// Writes what was recorded, and says how much.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        Self.reportRecorded(by: cache, in: recorder, output)
    }

    /// Says how much was recorded.
    static func reportRecorded(
        by cache: LocalSubstitutionCache,
        in recorder: SubstitutionRecorder,
        _ output: Output
    ) {
        let count = cache.statistics.recorded
        output.message("\(count == 1 ? "1 response" : "\(count) responses") new or changed in \(recorder.mapFile.path)")
    }
}
