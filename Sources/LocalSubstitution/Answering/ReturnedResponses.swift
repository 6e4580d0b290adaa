import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Notes about the responses that the cache has just returned, and that aren't retained under their URLs. If URLSession then
/// hands such a response to the protocol, it isn't decided about again.
///
/// Nothing is noted if URLSession asks the protocol first, since the cache then leaves the request to the protocol.
final class ReturnedResponses: Sendable {
    private struct Note: Sendable {
        let request: URLRequest
        let status: Int
        let headers: [String: String]
        let generation: Int
    }

    /// The latest notes. Most are never asked for: a session without the protocol uses the cache's response.
    private let notes = Guarded<[Note]>([])
    private static let most = 64
    private let isUsed: Bool

    init(_ traits: LoaderTraits) { isUsed = !traits.contains(.asksProtocolThenCache) }

    /// Notes a response to a plan's request. Leaves out what an attached session may answer otherwise: a redirect, which it
    /// follows, and an entry whose file may have been refreshed.
    ///
    /// - Parameter isRetained: Whether the response is retained under its URL. Then nothing is noted.
    func note(
        _ response: CachedURLResponse,
        _ plan: Plan,
        _ substitution: Substitution,
        unless isRetained: @autoclosure () -> Bool
    ) {
        guard isUsed, substitution.use == .always, !substitution.isRedirect, !isRetained(),
            let http = response.response as? HTTPURLResponse
        else { return }
        let note = Note(
            request: plan.request,
            status: http.statusCode,
            headers: http.headers,
            generation: plan.generation
        )
        notes.withLock { notes in
            if notes.count == Self.most { notes.removeFirst() }
            notes.append(note)
        }
    }

    /// Returns whether a response was noted for a request, and removes the note.
    func removeNote(of request: URLRequest, _ http: HTTPURLResponse, generation: Int) -> Bool {
        guard isUsed else { return false }
        return notes.withLock { notes in
            let index = notes.lastIndex { note in
                note.request.isSame(as: request) && note.status == http.statusCode && note.headers == http.headers
                    && note.generation == generation
            }
            return index.map { notes.remove(at: $0) } != nil
        }
    }
}
