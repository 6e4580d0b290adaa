import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol whose cache and recorder tests set. Each suite has a subclass, and its tests run one after another.
class VisitProtocol: SubstitutionURLProtocol {
    fileprivate static let parts = Guarded<[ObjectIdentifier: (LocalSubstitutionCache, SubstitutionRecorder)]>([:])
    override class var cache: LocalSubstitutionCache? { parts.withLock { $0[ObjectIdentifier(self)]?.0 } }
    override class var recorder: SubstitutionRecorder? { parts.withLock { $0[ObjectIdentifier(self)]?.1 } }
}

/// A session that records into a folder.
struct Visit {
    let session: URLSession
    let cache: LocalSubstitutionCache
    let recorder: SubstitutionRecorder
    private let type: VisitProtocol.Type

    /// - Parameter map: The cache's own.
    init(
        _ folder: URL,
        as type: VisitProtocol.Type,
        map: String = "{}",
        unmatched: LocalSubstitutionCache.Unmatched = .load,
        headers: [String: String] = [:]
    ) throws {
        recorder = try SubstitutionRecorder(folder: folder)
        cache = LocalSubstitutionCache(
            map: try SubstitutionMap(json: Data(map.utf8), resources: FileManager.default.temporaryDirectory)
        )
        self.type = type
        let parts = (cache, recorder)
        VisitProtocol.parts.withLock { $0[ObjectIdentifier(type)] = parts }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = headers
        cache.attach(to: configuration, as: type, unmatched: unmatched)
        session = URLSession(configuration: configuration)
    }

    /// Lets go of the folder, so that another recorder can have it.
    func end() {
        session.invalidateAndCancel()
        recorder.close()
        VisitProtocol.parts.withLock { $0[ObjectIdentifier(type)] = nil }
    }

    func part(_ path: String, _ base: URL) async throws -> RecordedSite.Part {
        guard let url = URL(string: path, relativeTo: base)?.absoluteURL else { throw URLError(.badURL) }
        return RecordedSite.Part(path, try await session.data(from: url))
    }
}
