import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Notes about the cache's latest lookups, for a URLSession that may ask the cache before it starts a protocol.
///
/// If the session then gives the protocol a noted response, the request isn't decided about again. If the protocol
/// decides itself, the lookup isn't counted any more, so that the request counts once.
///
/// Nothing is noted if URLSession asks the protocol first, since the cache then doesn't respond to the request.
final class ReturnedResponses: Sendable {
    /// What a lookup was counted as.
    struct Count: Sendable {
        let kind: LocalSubstitutionCache.Event.Kind
        let bytes: Int
    }

    private struct Note: Sendable {
        /// The request, without its body.
        let request: URLRequest
        let count: Count
        /// The head of a response that a protocol may deliver without deciding about the request again; otherwise `nil`.
        let head: HTTPURLResponse?
        let generation: Int

        func isWanted(_ response: (head: HTTPURLResponse, generation: Int)?) -> Bool {
            guard let response else { return true }
            guard let head, generation == response.generation else { return false }
            return head.statusCode == response.head.statusCode && head.headers == response.head.headers
        }
    }

    /// The latest notes. Most are never asked for: a session without the protocol uses the cache's response.
    private let notes = Guarded<[Note]>([])
    private static let most = 64
    /// Whether anything is noted. If not, don't call ``note(_:_:_:generation:)``.
    let isUsed: Bool

    init(_ traits: LoaderTraits) { isUsed = !traits.contains(.asksProtocolThenCache) }

    /// - Parameters:
    ///   - response: The response, if a protocol may deliver it. `nil` if there's none, or if an attached session may
    ///     respond differently: it follows a redirect, and an entry's file may have been refreshed.
    ///   - generation: The value of ``ResponsesInMemory/generation`` when the request was looked up.
    func note(_ request: URLRequest, _ count: Count, _ response: CachedURLResponse? = nil, generation: Int) {
        let note = Note(
            request: request.withoutBody,
            count: count,
            head: response?.response as? HTTPURLResponse,
            generation: generation
        )
        notes.withLock { notes in
            if notes.count == Self.most { notes.removeFirst() }
            notes.append(note)
        }
    }

    /// Returns what a request's lookup was counted as, and removes the note; `nil` if there was none.
    ///
    /// - Parameter response: The head of the response that must be noted, and the generation in which it must have been
    ///   returned; `nil`, the default, to remove the latest note of any response, or of none.
    func removeNote(of request: URLRequest, _ response: (head: HTTPURLResponse, generation: Int)? = nil) -> Count? {
        guard isUsed else { return nil }
        let request = request.withoutBody
        return notes.withLock { notes in
            let index = notes.lastIndex { $0.request.isSame(as: request) && $0.isWanted(response) }
            return index.map { notes.remove(at: $0).count }
        }
    }
}

extension URLRequest {
    fileprivate var withoutBody: URLRequest {
        guard httpBody != nil || httpBodyStream != nil else { return self }
        var request = self
        request.httpBody = nil
        request.httpBodyStream = nil
        return request
    }
}
