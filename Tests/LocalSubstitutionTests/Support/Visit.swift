import Foundation
import LocalSubstitutionRecording

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session that records into a folder.
struct Visit {
    let session: URLSession
    let cache: LocalSubstitutionCache
    let recorder: SubstitutionRecorder

    /// - Parameter map: The cache's own map.
    init(
        _ folder: URL,
        map: String = "{}",
        handlers: [String: SubstitutionMap.Handler] = [:],
        unmatched: LocalSubstitutionCache.Unmatched = .load,
        headers: [String: String] = [:],
        redacting: (@Sendable (inout RecordedResponse) -> Void)? = nil
    ) throws {
        recorder = try SubstitutionRecorder(folder: folder, redacting: redacting)
        cache = LocalSubstitutionCache(
            map: try SubstitutionMap(
                json: Data(map.utf8),
                resources: FileManager.default.temporaryDirectory,
                handlers: handlers
            )
        )
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = headers
        try cache.attach(to: configuration, unmatched: unmatched, responseRecorder: recorder)
        session = URLSession(configuration: configuration)
    }

    /// Releases the folder, so that another recorder can use it.
    func end() {
        session.finishTasksAndInvalidate()
        recorder.close()
    }

    func part(_ path: String, _ base: URL) async throws -> RecordedSite.Part {
        guard let url = URL(string: path, relativeTo: base)?.absoluteURL else { throw URLError(.badURL) }
        return RecordedSite.Part(path, try await session.data(from: url))
    }
}
