import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The arguments of one `attach` call: which map answers, the session's rules, and how requests are forwarded.
final class Attachment: Sendable {
    /// The client whose requests are answered.
    enum Client: Sendable {
        case session
        /// The server. It follows no redirects, reads large files in pieces, and keeps a body's pace itself.
        case server
        /// Code that calls ``LocalSubstitutionCache/answer(to:)``. It follows redirects itself, and loads the requests
        /// that no entry answers.
        case caller
    }

    let responder: Responder
    let rules: SessionRules
    let forwarder: Forwarder
    /// The longest body of a network response to hold in memory, in bytes. A longer body is passed on in pieces.
    let responseLimit: Int
    let client: Client
    /// Whether a request's `Authorization` header is forwarded to the network.
    let sendsCredentials: Bool
    /// Whether the recorder also keeps redirects, errors and other responses that a site needs: see
    /// ``Exchange/isBrowsed``.
    let isBrowsed: Bool

    /// - Parameters:
    ///   - configuration: The configuration with which requests are forwarded.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for 256 MiB. A longer body is passed on
    ///     in pieces.
    init(
        of responder: Responder,
        to configuration: URLSessionConfiguration,
        rules: SessionRules = .load,
        responseLimit: Int? = nil,
        for client: Client = .session,
        sendsCredentials: Bool = true,
        isBrowsed: Bool = false
    ) {
        self.responder = responder
        self.rules = rules
        self.client = client
        self.sendsCredentials = sendsCredentials
        self.isBrowsed = isBrowsed
        self.responseLimit = responseLimit ?? ForwardedRequest.usualLimit
        forwarder = Forwarder(configuration)
    }

    /// Whether the client isn't a URLSession. Such a client gets a redirect as the response.
    var isDirect: Bool { client != .session }

    /// Returns the plan for a request of an attached session.
    ///
    /// - Parameter body: The request's body, as far as it's known. On the loader's queue, pass
    ///   ``RequestFacts/Body/onLoaderQueue(_:)``.
    func lookUp(_ request: URLRequest, body: RequestFacts.Body) -> Plan {
        responder.lookUp(forwarder.withoutStoredCookies(request), body: body, rules: rules)
    }

    /// Decides how to answer a request now, and counts the answer if its alternative has a limit of `times`.
    ///
    /// - Parameters:
    ///   - body: The request's body, as far as it's known.
    ///   - taken: The plan that was made when a protocol accepted the request; `nil` to look the request up. A plan of
    ///     another session is ignored.
    ///   - reportsGoneFiles: Whether to report entries that were passed over because their files are missing; `true` by
    ///     default.
    func decide(_ request: URLRequest, body: RequestFacts.Body, _ taken: Plan? = nil, reportsGoneFiles: Bool = true)
        -> Plan
    {
        var plan = taken.flatMap { $0.rules === rules ? $0 : nil } ?? lookUp(request, body: body)
        // Another request may have used up the alternative since the lookup.
        while !responder.maps.count(plan) { plan = lookUp(request, body: body) }
        if reportsGoneFiles { responder.reportGoneFiles(plan) }
        return plan
    }

    /// Refuses a plan's request, or answers it with an entry, on the current thread. Returns `nil` for any other
    /// action, for an entry with a delay, pace or stream, and, in an attached session, for a redirect or a file that
    /// isn't in memory.
    func outcomeAtOnce(_ plan: Plan) -> RequestOutcome? {
        switch plan.action {
        case .refuse:
            responder.unmatched(plan)
        case .answer(let substitution) where answersAtOnce(substitution):
            // A direct client has its own thread, which may read files.
            isDirect || responder.isAtHand(plan) ? serve(plan, by: substitution) : nil
        default:
            nil
        }
    }

    /// Returns whether an entry can answer at once: with no delay, pace or stream and, in an attached session, no
    /// redirect.
    func answersAtOnce(_ substitution: Substitution) -> Bool {
        substitution.options.fields.delay == nil && !substitution.takesTime && (isDirect || !substitution.isRedirect)
    }

    /// Returns an entry's response, without waiting for the entry's delay.
    func serve(_ plan: Plan, by substitution: Substitution) -> RequestOutcome {
        let location = substitution.headers[header: "Location"]
        let isFollowed = nextRequest(after: plan.request, substitution.status, location) != nil
        return responder.serve(plan, by: substitution, mayReadInPieces: client == .server, isFollowed: isFollowed)
    }

    /// Returns the request with which `answer(to:)` follows a redirect. Returns `nil` if `answer(to:)` returns the
    /// response instead: it isn't a redirect, or no entry answers its target. Also returns `nil` for other clients.
    ///
    /// A redirect that's followed isn't reported, as in a session.
    func nextRequest(after request: URLRequest, _ status: Int, _ location: String?) -> URLRequest? {
        guard client == .caller, Redirect.statuses.contains(status),
            let next = request.redirected(by: status, to: location),
            lookUp(next, body: RequestFacts.Body(next)).hasEntry
        else { return nil }
        return next
    }
}
