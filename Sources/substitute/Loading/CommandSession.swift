import Foundation
import LocalSubstitution
import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The session that a subcommand loads through, with its cache and recorder.
struct CommandSession: Sendable {
    /// The options for the session.
    static let options = [
        Option(name: "cache-only", value: nil, help: "don't attach the cache; only set it as urlCache"),
        Option(name: "record", value: .folder, help: "save responses in DIR"),
        Option(name: "offline", value: nil, help: "don't use the network"),
        ByteCount.limitOption,
    ]

    let loader: Loader
    let cache: LocalSubstitutionCache
    let isAttached: Bool
    private let sources: AnswerSources
    private let recorder: SubstitutionRecorder?
    private let isOffline: Bool

    init(_ arguments: Arguments, _ output: Output) throws {
        isAttached = !arguments.has("cache-only")
        isOffline = arguments.has("offline")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Failure(usage: "--\(other) needs an attached session. Leave out --cache-only.")
        }
        let folder = arguments.value("record").map { CurrentFolder.current.file($0, isDirectory: true) }
        recorder = try folder.map { try SubstitutionRecorder(folder: $0, limit: .max) }
        cache = try Self.cache(arguments, output, recordsInto: folder)
        let limit = try ByteCount.limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // A response to a request with cookies isn't kept, so the session has none.
        if recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: arguments.has("offline") ? .fail : .load,
                keeper: recorder,
                responseLimit: limit.bytes,
                isBrowsed: arguments.has("parts")
            )
        }
        sources = AnswerSources(of: cache) { event in
            if event.kind == .notRecorded { output.message("\(event)") }
        }
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Returns a cache with the chosen map. Recording doesn't need one: if there is none, the map is empty.
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
        // Offline, only an entry's `forwardTo` can bring a response to record.
        if !isOffline || cache.statistics.recorded > 0 { Self.reportRecorded(by: cache, in: recorder, output) }
    }

    /// Says how much was recorded.
    static func reportRecorded(
        by cache: LocalSubstitutionCache,
        in recorder: SubstitutionRecorder,
        _ output: Output
    ) {
        let count = cache.statistics.recorded
        output.message("\(count.counted("response", "responses")) new or changed in \(recorder.mapFile.path)")
    }
}
