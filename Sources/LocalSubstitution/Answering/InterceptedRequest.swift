import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A note about the request that a protocol has intercepted but not started to load.
///
/// If the loader asks the protocol, then the cache, and then starts the protocol, all on one queue for all sessions, it's
/// enough to keep the latest note (on Linux: `URLSession.swift`, `sharedQueue`). For a loader that doesn't promise that
/// order, nothing is noted.
final class InterceptedRequest: Sendable {
    /// What was found when the protocol intercepted the request: its response in memory, or else its plan.
    struct Note: Sendable {
        let request: URLRequest
        var response: ResponsesInMemory.Response?
        var plan: Plan?
        /// Whether the cache was asked afterward, and didn't respond because the protocol will.
        fileprivate(set) var isLeft = false

        /// The response in memory, if it was checked only a moment ago. `nil` if this cache wasn't asked afterward: the
        /// loader may then have waited for another cache, so the response must be checked again.
        var checkedResponse: ResponsesInMemory.Response? { isLeft ? response : nil }

        init(_ request: URLRequest, response: ResponsesInMemory.Response? = nil, plan: Plan? = nil) {
            (self.request, self.response, self.plan) = (request, response, plan)
        }

        fileprivate func isOf(_ other: URLRequest) -> Bool { request.isSame(as: other) }
    }

    private let note = Guarded<Note?>(nil)
    private let isUsed: Bool

    init(_ traits: LoaderTraits) { isUsed = traits.contains(.asksProtocolThenCache) }

    func note(_ note: Note) {
        if isUsed { self.note.withLock { $0 = note } }
    }

    /// Returns whether a protocol has intercepted a request. If so, the cache must not respond or report an event,
    /// since the protocol does. Returns `true` only once for each intercepted request.
    func leavesToProtocol(_ request: URLRequest) -> Bool {
        note.withLock { note in
            guard note?.isOf(request) == true, note?.isLeft == false else { return false }
            note?.isLeft = true
            return true
        }
    }

    /// For a request whose protocol was stopped before it was started.
    func forget(_ request: URLRequest) { note.withLock { if $0?.isOf(request) == true { $0 = nil } } }

    /// Removes the note when a protocol is started. Returns the note if it's about that protocol's request; otherwise
    /// `nil`.
    func start(_ request: URLRequest) -> Note? {
        let note = note.withLock { $0.take() }
        return note?.isOf(request) == true ? note : nil
    }
}

/// The responses in memory that a protocol returns.
extension Responder {
    /// Returns a request's response in memory if it's still current, without counting a hit.
    func currentResponse(to request: URLRequest) -> ResponsesInMemory.Response? {
        responseInMemory(underURLOf: request).flatMap { $0.isCurrent ? $0 : nil }
    }

    /// Returns the response in memory to a request that a protocol has intercepted.
    ///
    /// - Parameters:
    ///   - cached: The response that URLSession got from a cache; `nil` if it got none. If this responder returned it a
    ///     moment ago, it's returned without another check or count, since the cache did both.
    ///   - note: The note that the protocol made when it intercepted the request; `nil` if it made none.
    func responseInMemory(
        for request: URLRequest,
        _ cached: CachedURLResponse?,
        _ note: InterceptedRequest.Note?
    ) -> CachedURLResponse? {
        if let cached, hasReturned(cached, to: request) { return cached.meetingPreconditions(of: request) }
        return responseInMemory(for: request, checked: note?.checkedResponse)
    }

    /// Neither checks nor counts the response.
    func responseInMemory(underURLOf request: URLRequest) -> ResponsesInMemory.Response? {
        request.urlInMemory.flatMap { inMemory.peek($0.absoluteString) }
    }

    /// Returns whether URLSession got a cached response from this responder. URLSession may give the protocol another
    /// object, so its head is compared: the `ETag` identifies a file's version or a body in the map.
    private func hasReturned(_ cached: CachedURLResponse, to request: URLRequest) -> Bool {
        guard let http = cached.response as? HTTPURLResponse else { return false }
        if let response = responseInMemory(underURLOf: request), response === cached || response.hasHead(of: http) {
            _ = returned.removeNote(of: request)
            return true
        }
        return returned.removeNote(of: request, (head: http, generation: inMemory.generation)) != nil
    }
}

extension CachedURLResponse {
    fileprivate func hasHead(of other: HTTPURLResponse) -> Bool {
        guard let http = response as? HTTPURLResponse else { return false }
        return http.statusCode == other.statusCode && http.headers == other.headers
    }
}

extension URLRequest {
    /// Also compares headers, bodies and timeouts, which Foundation's `==` ignores (`NSURLRequest.swift`, `isEqual`).
    @inline(never)  // Otherwise, each of its callers would contain a copy of what compares two bodies.
    func isSame(as other: URLRequest) -> Bool {
        self == other && allHTTPHeaderFields == other.allHTTPHeaderFields && httpBody == other.httpBody
            && timeoutInterval == other.timeoutInterval
    }
}
