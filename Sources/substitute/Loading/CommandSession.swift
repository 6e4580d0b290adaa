import Foundation
import LocalSubstitution
import LocalSubstitutionRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The session that a subcommand loads through, with its cache and recorder.
struct CommandSession: Sendable {
    /// The options for the session.
    static let options: [Subcommand.Option] = [
        .flag("cache-only", help: "don't attach the cache; only set it as urlCache"),
        .option("record", .folder, help: "save responses in DIR"), .flag("offline", help: "don't use the network"),
        Loader.Limit.option,
    ]

    let loader: Loader
    let cache: LocalSubstitutionCache
    let isAttached: Bool
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
        cache = try MapChoice.cache(arguments, output, recordsInto: folder)
        let limit = try Loader.Limit(arguments)
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

    /// Ends the loads, saves the recording, and reports how many responses were recorded.
    func end(_ output: Output) {
        loader.end()
        guard let recorder else { return }
        recorder.close()
        // Offline, only an entry's `forwardTo` can bring a response to record.
        if !isOffline || cache.statistics.recorded > 0 { Self.reportRecorded(by: cache, in: recorder, output) }
    }

    /// Reports how many responses were recorded.
    static func reportRecorded(
        by cache: LocalSubstitutionCache,
        in recorder: SubstitutionRecorder,
        _ output: Output
    ) {
        let count = cache.statistics.recorded
        output.message("\(count.counted("response", "responses")) new or changed in \(recorder.mapFile.path)")
    }
}
