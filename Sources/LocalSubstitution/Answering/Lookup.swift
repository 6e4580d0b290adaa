import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request, and the decision of the map that was in use when the request was looked up.
final class Lookup: Sendable {
    let request: URLRequest
    /// Whether the request must not reach the network. Then the network isn't asked for a newer copy, and no newer copy answers.
    let isOffline: Bool
    let decision: Decision
    /// The map that was used for the decision.
    let map: SubstitutionMap
    /// See ``RetainedResponses/generation``.
    let generation: Int
    /// Whether the answer has been counted; see ``Responder/count(_:)``.
    let isCounted = Guarded(false)

    /// Looks a request up.
    ///
    /// - Parameters:
    ///   - body: The request's body, if more of it is known than the request shows.
    ///   - isUsedUp: Returns whether an alternative has already answered as many requests as it may.
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

    /// Whether the request's URL is spelled like its exact entry's key. There are no more such URLs than entries.
    var isSpelledAsKey: Bool {
        guard let match = decision.match, let entry = match.winner, !entry.isPattern else { return false }
        let text = request.url?.absoluteString
        return text == entry.key || (text == match.url.canonical && match.isWithoutIgnoring)
    }

    /// Returns what to ask the network about a file; `nil` if the entry isn't `untilUpdated`, if the method is neither GET nor
    /// HEAD, or if the request must not reach the network.
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
