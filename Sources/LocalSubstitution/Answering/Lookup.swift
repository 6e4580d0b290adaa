import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, and what it gets by the map that was in use when it was looked up.
final class Lookup: Sendable {
    let request: URLRequest
    /// Whether the request may not reach the network, so that no newer copy is asked for or answers.
    let isOffline: Bool
    let decision: Decision
    /// The map that decided.
    let map: SubstitutionMap
    /// See ``RetainedResponses/generation``.
    let generation: Int
    /// Whether the answer is counted; see ``Responder/count(_:)``.
    let isCounted = Guarded(false)

    /// - Parameters:
    ///   - body: The request's body, if more of it is known than the request shows.
    ///   - isUsedUp: Whether an alternative has answered as many requests as it may.
    init(
        _ request: URLRequest,
        body: RequestBody?,
        isOffline: Bool,
        in map: SubstitutionMap,
        generation: Int,
        isUsedUp: @escaping (AnswerCount) -> Bool
    ) {
        self.request = request
        self.isOffline = isOffline
        self.map = map
        self.generation = generation
        decision = Decision(request, body: body, in: map, isUsedUp: isUsedUp)
    }

    var folder: ResourcesFolder? { map.storage.folder }

    func path(of substitution: Substitution) -> String? {
        substitution.fileName.flatMap { name in folder?.path(of: name) }
    }

    /// The request under which the default cache keeps a response to this one; `nil` if it keeps none.
    var defaultCacheKey: URLRequest? { DefaultCacheKey.request(for: request, decision.match?.url.text) }

    /// Whether the request's URL is spelled like its exact entry's key. There are only as many such URLs as entries.
    var isSpelledAsKey: Bool {
        guard let match = decision.match, let entry = match.winner, !entry.isPattern else { return false }
        let text = request.url?.absoluteString
        return text == entry.key || (text == match.url.canonical && match.isWithoutIgnoring)
    }

    /// What to ask the network about a file; `nil` for an entry that isn't `untilUpdated`, for other methods than GET, and
    /// offline.
    func question(about substitution: Substitution) -> NewerCopies.Question? {
        guard substitution.use == .untilUpdated, !isOffline, ["GET", "HEAD"].contains(request.httpMethod ?? "GET"),
            let match = decision.match, let requested = request.url, let name = substitution.fileName, let folder
        else { return nil }
        return NewerCopies.Question(
            url: match.url.canonical,
            requested: requested,
            key: substitution.key,
            fileName: name,
            folder: folder
        )
    }
}
