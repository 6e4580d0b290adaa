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
        case answer(Plan, Substitution)
        /// The entry makes the request fail.
        case fail(Plan, Substitution, URLError.Code)
        /// The network answers. If it fails, the fallback does, if there is one.
        case forward(Plan, ForwardedRequest.Fallback?)
        /// The kept copy answers. Without one, the request fails.
        case replay(Plan, any ResponseKeeper)
        /// Decides again after reading the request's body.
        case readBody(Plan)
        /// Nothing answers, and the request isn't allowed to reach the network.
        case refuse(Plan)

        var plan: Plan {
            switch self {
            case .answer(let plan, _), .fail(let plan, _, _), .forward(let plan, _), .replay(let plan, _),
                .readBody(let plan), .refuse(let plan):
                plan
            }
        }
    }

    /// Returns what a protocol does with a request; `nil` if it leaves the request to the loader.
    func action(for plan: Plan) -> Action? {
        let request = plan.request
        switch plan.outcome {
        case .answer(let substitution):
            return .answer(plan, substitution)
        case .answerOffline(let substitution):
            if unmatched.fails(request) { return .answer(plan, substitution) }
            return request.showsItsBody ? .forward(plan, .entry(substitution)) : nil
        case .fail(let substitution, let code):
            return .fail(plan, substitution, code)
        case .forward(let substitution):
            // An entry that names another URL allows that URL, even in a strict session.
            if case .network(nil) = substitution.content, unmatched.fails(request) { return .refuse(plan) }
            return .forward(plan, nil)
        case .readBody:
            return .readBody(plan)
        case .nothing(let cause):
            if cause != .excluded, let keeper, keeper.takes(request) {
                return unmatched.fails(request) ? .replay(plan, keeper) : .forward(plan, .keeper(keeper))
            }
            guard unmatched.isStrict || listener != nil, request.reachesNetwork else { return nil }
            if unmatched.fails(request) { return .refuse(plan) }
            // An exception may redirect to a URL that isn't one. Only a forwarded request lets the redirect's target be checked.
            let mayBeSentOn = request.showsItsBody || listener?.mustHear(request) == true
            return request.isHTTP && mayBeSentOn ? .forward(plan, nil) : nil
        }
    }

    /// Returns what a protocol does with a request that it has taken, whatever the map says by now.
    ///
    /// The map may have changed in the meantime, or an alternative may be used up. If nothing is left to do, the network answers.
    func actionToTake(_ plan: Plan) -> Action { action(for: plan) ?? .forward(plan, nil) }

    /// Looks up a request of a session that this is attached to.
    ///
    /// - Parameter body: The request's body, if more of it is known than the request shows. A long body isn't looked at on the
    ///   loader's queue.
    func lookUp(_ request: URLRequest, body: RequestBody) -> Plan {
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
