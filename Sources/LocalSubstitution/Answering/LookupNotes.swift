import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Notes about lookups of requests whose protocol may start afterward, so that each request is decided about and counted
/// once.
///
/// What is noted depends on the order in which URLSession asks:
///
/// - If it asks the protocol class, then the cache, and then starts the protocol, all on one queue for all sessions (on
///   Linux: `URLSession.swift`, `sharedQueue`), the class notes what it found. The latest note is enough.
/// - If it doesn't promise that order, it may ask the cache before it starts a protocol. Then the cache notes how its
///   latest lookups were counted. If the session gives the protocol a noted response, the request isn't decided about
///   again. If the protocol decides itself, the lookup isn't counted any more.
final class LookupNotes: Sendable {
    /// What was found when a protocol class intercepted a request: its response in memory, or else its plan.
    struct Intercepted: Sendable {
        let request: URLRequest
        var response: ResponsesInMemory.Response?
        var plan: Plan?
        /// Whether the cache was asked afterward, and didn't respond because the protocol will.
        fileprivate(set) var isLeft = false

        /// The response in memory, if it was checked only a moment ago. `nil` if this cache wasn't asked afterward:
        /// URLSession may then have waited for another cache, so the response must be checked again.
        var checkedResponse: ResponsesInMemory.Response? { isLeft ? response : nil }

        init(_ request: URLRequest, response: ResponsesInMemory.Response? = nil, plan: Plan? = nil) {
            (self.request, self.response, self.plan) = (request, response, plan)
        }

        fileprivate func isOf(_ other: URLRequest) -> Bool { request.isSame(as: other) }
    }

    /// How a lookup in the cache was counted.
    struct Count: Sendable {
        let kind: LocalSubstitutionCache.Event.Kind
        let bytes: Int
    }

    private struct Counted: Sendable {
        /// The request, without its body.
        let request: URLRequest
        let count: Count
        /// The head of a response that a protocol may deliver without deciding about the request again; otherwise `nil`.
        let head: HTTPURLResponse?
        let generation: Int

        func isWanted(_ response: (head: HTTPURLResponse, generation: Int)?) -> Bool {
            guard let response else { return true }
            return generation == response.generation && head?.isSameHead(as: response.head) == true
        }
    }

    private let intercepted = Guarded<Intercepted?>(nil)
    /// The latest notes. Most are never asked for: a session without the protocol uses the cache's response.
    private let counted = Guarded<[Counted]>([])
    private static let mostCounted = 64
    private let notesIntercepted: Bool
    /// Whether counts are noted. If not, don't call ``note(_:_:_:generation:)``.
    var notesCounts: Bool { !notesIntercepted }

    init(_ traits: LoaderTraits) { notesIntercepted = traits.contains(.asksProtocolThenCache) }

    // MARK: The protocol class's

    func note(_ note: Intercepted) {
        if notesIntercepted { intercepted.withLock { $0 = note } }
    }

    /// Returns whether a protocol has intercepted a request. If so, the cache must not respond or report an event,
    /// since the protocol does. Returns `true` only once for each intercepted request.
    func leavesToProtocol(_ request: URLRequest) -> Bool {
        intercepted.withLock { note in
            guard note?.isOf(request) == true, note?.isLeft == false else { return false }
            note?.isLeft = true
            return true
        }
    }

    /// For a request whose protocol was stopped before it was started.
    func forget(_ request: URLRequest) { intercepted.withLock { if $0?.isOf(request) == true { $0 = nil } } }

    /// Removes the note when a protocol is started. Returns the note if it's about that protocol's request; otherwise
    /// `nil`.
    func start(_ request: URLRequest) -> Intercepted? {
        let note = intercepted.withLock { $0.take() }
        return note?.isOf(request) == true ? note : nil
    }

    // MARK: The cache's

    /// - Parameters:
    ///   - response: The response, if a protocol may deliver it. `nil` if there's none, or if an attached session may
    ///     respond differently: it follows a redirect, and an entry's file may have been refreshed.
    ///   - generation: The value of ``ResponsesInMemory/generation`` when the request was looked up.
    func note(_ request: URLRequest, _ count: Count, _ response: CachedURLResponse? = nil, generation: Int) {
        let note = Counted(
            request: request.withoutBody,
            count: count,
            head: response?.response as? HTTPURLResponse,
            generation: generation
        )
        counted.withLock { notes in
            if notes.count == Self.mostCounted { notes.removeFirst() }
            notes.append(note)
        }
    }

    /// Returns how a request's lookup was counted, and removes the note; `nil` if there was none.
    ///
    /// - Parameter response: The head of the response that must be noted, and the generation in which it must have been
    ///   returned; `nil`, the default, to remove the latest note of any response, or of none.
    func removeCount(of request: URLRequest, _ response: (head: HTTPURLResponse, generation: Int)? = nil) -> Count? {
        guard notesCounts else { return nil }
        let request = request.withoutBody
        return counted.withLock { notes in
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

    /// Also compares headers, bodies and timeouts, which Foundation's `==` ignores (`NSURLRequest.swift`, `isEqual`).
    @inline(never)  // Otherwise, each of its callers would contain a copy of what compares two bodies.
    fileprivate func isSame(as other: URLRequest) -> Bool {
        self == other && allHTTPHeaderFields == other.allHTTPHeaderFields && httpBody == other.httpBody
            && timeoutInterval == other.timeoutInterval
    }
}
