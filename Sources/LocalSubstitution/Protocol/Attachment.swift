import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The arguments of one `attach` call: which map answers, what happens to unmatched requests, and what keeps responses.
final class Attachment: Sendable {
    let responder: Responder
    let keeper: (any ResponseKeeper)?
    let forwarder: Forwarder
    let unmatched: UnmatchedRule
    /// Whether pieces of a response are passed on before the rest. If there's no fallback, they're passed on as they arrive.
    /// Otherwise, once the response is too long to hold.
    let streams: Bool
    /// Whether the client isn't a URLSession. Such a client follows redirects itself and takes large files in pieces.
    let isDirect: Bool
    /// Whether the keeper also keeps what a browser needs to show a site again: see ``Exchange/isBrowsed``.
    let isBrowsed: Bool
    /// Hears of the requests that the protocol takes, which are all requests whose bodies it sees; `nil` for most sessions.
    let listener: RequestListener?

    /// - Parameters:
    ///   - configuration: The configuration for forwarding requests.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for the platform's default.
    init(
        of responder: Responder,
        to configuration: URLSessionConfiguration,
        unmatched: UnmatchedRule,
        keeper: (any ResponseKeeper)?,
        streams: Bool = Attachment.canStream,
        responseLimit: Int? = nil,
        isDirect: Bool = false,
        isBrowsed: Bool = false,
        listener: RequestListener? = nil
    ) {
        self.isDirect = isDirect
        self.isBrowsed = isBrowsed
        self.listener = listener
        self.responder = responder
        self.unmatched = unmatched
        self.keeper = keeper
        self.streams = streams
        forwarder = Forwarder(configuration, responseLimit: responseLimit)
    }

    /// `false` on Linux, where a completion handler receives only the last piece (`URLSessionTask.swift`,
    /// `urlProtocol(_:didLoad:)`).
    static var canStream: Bool {
        #if canImport(Darwin)
        true
        #else
        false
        #endif
    }

    /// What a protocol does with a request.
    enum Action: Sendable {
        /// The entry answers.
        case answer(Lookup, Substitution)
        /// The entry makes the request fail.
        case fail(Lookup, Substitution, URLError.Code)
        /// The network answers. If it fails, the fallback does, if there is one.
        case forward(Lookup, Fallback?)
        /// The kept copy answers. Without one, the request fails.
        case replay(Lookup, any ResponseKeeper)
        /// Decides again after reading the request's body.
        case readBody(Lookup)
        /// Nothing answers, and the request isn't allowed to reach the network.
        case refuse(Lookup)

        var lookup: Lookup {
            switch self {
            case .answer(let lookup, _), .fail(let lookup, _, _), .forward(let lookup, _), .replay(let lookup, _),
                .readBody(let lookup), .refuse(let lookup):
                lookup
            }
        }
    }

    /// Returns what a protocol does with a request; `nil` if it leaves the request to the loader.
    func action(for lookup: Lookup) -> Action? {
        let request = lookup.request
        switch lookup.decision.outcome {
        case .answer(let substitution):
            return .answer(lookup, substitution)
        case .answerOffline(let substitution):
            if unmatched.fails(request) { return .answer(lookup, substitution) }
            return request.showsItsBody ? .forward(lookup, .entry(substitution)) : nil
        case .fail(let substitution, let code):
            return .fail(lookup, substitution, code)
        case .forward(let substitution):
            // An entry that names another URL allows that URL, even in a strict session.
            if case .network(nil) = substitution.content, unmatched.fails(request) { return .refuse(lookup) }
            return .forward(lookup, nil)
        case .readBody:
            return .readBody(lookup)
        case .nothing(let cause):
            if cause != .excluded, let keeper, keeper.takes(request) {
                return unmatched.fails(request) ? .replay(lookup, keeper) : .forward(lookup, .keeper(keeper))
            }
            guard unmatched.isStrict || listener != nil, request.reachesNetwork else { return nil }
            if unmatched.fails(request) { return .refuse(lookup) }
            // An exception may redirect to a URL that isn't one. Only a forwarded request lets the redirect's target be checked.
            let mayBeSentOn = request.showsItsBody || listener?.mustHear(request) == true
            return request.isHTTP && mayBeSentOn ? .forward(lookup, nil) : nil
        }
    }

    /// Returns what a protocol does with a request that it has taken, whatever the map says by now.
    ///
    /// The map may have changed in the meantime, or an alternative may be used up. If nothing is left to do, the network answers.
    func actionToTake(_ lookup: Lookup) -> Action { action(for: lookup) ?? .forward(lookup, nil) }

    /// Looks up a request of a session that this is attached to.
    ///
    /// - Parameter body: The request's body, if more of it is known than the request shows. A long body isn't looked at on the
    ///   loader's queue.
    func lookUp(_ request: URLRequest, body: RequestBody) -> Lookup {
        responder.lookUp(forwarder.withoutStoredCookies(request), body: body, isOffline: unmatched.isStrict)
    }
}

extension URLRequest {
    fileprivate var isHTTP: Bool { ["http", "https"].contains(url?.scheme?.lowercased()) }

    /// Whether loading the request would reach the network. `data` and `file` URLs don't.
    var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
