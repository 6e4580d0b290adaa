import Foundation
import LocalSubstitution
import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The session that the subcommand `get` loads requests with, and the session's cache and recorder.
struct CommandSession: Sendable {
    /// The options that configure the session.
    static let options: [Subcommand.Option] = [
        .flag("cache-only", help: "don't attach the cache; only set it as urlCache"),
        .option("record", .folder, help: "save responses in DIR"),
        .flag("offline", help: "use the network only for forwardTo"),
        Loader.Limit.option,
    ]

    let loader: Loader
    let cache: LocalSubstitutionCache
    /// Whether the cache is attached to the session. `--cache-only` prevents that.
    let isAttached: Bool
    /// The recorder of responses; `nil` without `--record`.
    private let recorder: SubstitutionRecorder?
    private let isOffline: Bool

    init(_ arguments: Arguments, _ output: Output) throws {
        isAttached = !arguments.has("cache-only")
        isOffline = arguments.has("offline")
        if !isAttached, let other = ["record", "offline"].first(where: arguments.has) {
            throw Failure(usage: "--\(other) needs an attached session. Leave out --cache-only.")
        }
        let folder = arguments.value("record").map { Shell.file($0, isDirectory: true) }
        recorder = try folder.map { try SubstitutionRecorder(folder: $0, limit: .max) }
        cache = try MapChoice(arguments).cache(output, recordsInto: folder)
        let limit = try Loader.Limit(arguments)
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = cache
        // The recorder doesn't keep responses to requests with cookies. So the session sends no cookies.
        if recorder != nil {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
        }
        if isAttached {
            try cache.attach(
                to: configuration,
                unmatched: isOffline ? .fail : .load,
                responseRecorder: recorder,
                responseLimit: limit.bytes,
                isBrowsed: arguments.has("parts")
            )
        }
        let sources = Loader.Sources(of: cache) { event in
            if event.kind == .notRecorded { output.message("\(event)") }
        }
        loader = Loader(configuration, limit: limit, sources)
    }

    /// Ends the loads. With `--record`, also saves the recording, and reports how many responses were recorded.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        // With --offline, a response to record can only come through an entry's `forwardTo`. So report only if a
        // response was recorded.
        if !isOffline || cache.statistics.recorded > 0 { Self.reportRecorded(by: cache, in: recorder, output) }
    }

    /// Prints how many responses a recorder added or changed, and the path of its map.
    static func reportRecorded(
        by cache: LocalSubstitutionCache,
        in recorder: SubstitutionRecorder,
        _ output: Output
    ) {
        let count = cache.statistics.recorded
        output.message("\(count.counted("response", "responses")) new or changed in \(recorder.mapFile.path)")
    }
}
