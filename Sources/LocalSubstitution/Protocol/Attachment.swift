import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An attached session: which map answers, the session's rules, how requests are forwarded, and the outcomes that the
/// map gives them. The server and ``LocalSubstitutionCache/answer(to:)`` use one, too.
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
    /// The traits of the client's loader. Only a URLSession hides bodies.
    let traits: LoaderTraits
    let rules: SessionRules
    let forwarder: Forwarder
    /// The longest body of a network response to hold in memory, in bytes. A longer body is passed on in pieces.
    let responseLimit: Int
    let client: Client
    /// Whether a request's `Authorization` header is forwarded to the network.
    let sendsCredentials: Bool

    /// Creates an attachment. If it's for a strict session, the cache itself no longer asks for newer copies: see
    /// ``Responder/takeCacheOffline()``.
    ///
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
        sendsCredentials: Bool = true
    ) {
        self.responder = responder
        traits = client == .session ? responder.traits : responder.traits.subtracting(.hidesUploadBodies)
        self.rules = rules
        self.client = client
        self.sendsCredentials = sendsCredentials
        self.responseLimit = responseLimit ?? ForwardedRequest.usualLimit
        forwarder = Forwarder(configuration, traits)
        if client == .session, rules.isStrict { responder.takeCacheOffline() }
    }

    /// Makes an attachment again. It holds the map with its counts, and the session's settings, but nothing that can be
    /// made anew.
    typealias Remains = @Sendable () -> Attachment

    var remains: Remains {
        { [maps = responder.maps, traits, rules, responseLimit, configuration = forwarder.snapshot] in
            Attachment(
                of: Responder(maps, defaultCacheIn: nil, traits: traits),
                to: configuration,
                rules: rules,
                responseLimit: responseLimit
            )
        }
    }

    /// Whether the recorder also keeps redirects, errors and other responses that a site needs: see
    /// ``Exchange/isBrowsed``.
    var isBrowsed: Bool { client == .server }

    /// Whether the client isn't a URLSession. Such a client gets a redirect as the response.
    var isDirect: Bool { client != .session }

    /// Returns the plan for a request of an attached session.
    ///
    /// - Parameter body: The request's body, as far as it's known. On the loader's queue, pass
    ///   ``RequestFacts/Body/onLoaderQueue(_:isHidden:)``.
    func lookUp(_ request: URLRequest, body: RequestFacts.Body) -> Plan {
        responder.lookUp(forwarder.withoutStoredCookies(request), body: body, rules: rules, traits: traits)
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
            unmatched(plan)
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

    /// Returns the request with which `answer(to:)` follows a redirect. Returns `nil` if `answer(to:)` returns the
    /// response instead: it isn't a redirect, or no entry answers its target. Also returns `nil` for other clients.
    func nextRequest(after request: URLRequest, _ status: Int, _ location: String?) -> URLRequest? {
        guard client == .caller, Redirect.statuses.contains(status),
            let next = request.redirected(by: status, to: location),
            lookUp(next, body: RequestFacts.Body(next)).hasEntry
        else { return nil }
        return next
    }
}

/// The outcomes of requests. A protocol also answers requests for which URLSession doesn't ask a cache or rejects the
/// cache's response.
extension Attachment {
    /// Returns an entry's response, without waiting for the entry's delay, even if the loader wouldn't accept the
    /// response from a cache. If the entry's file can't be read, returns a failure.
    func serve(_ plan: Plan, by substitution: Substitution) -> RequestOutcome {
        guard let url = plan.request.url else { return .failed(plan, URLError(.badURL)) }
        do throws(FileProblem) {
            if client == .server, let outcome = try serveInPieces(plan, by: substitution, url) { return outcome }
            guard let response = try responder.response(to: plan, by: substitution).map({ sent($0, plan) }) else {
                return .failed(plan, URLError(.badURL))
            }
            return RequestOutcome(.matched, plan, .success(response))
        } catch {
            responder.maps.uncount(plan)
            responder.report(error, key: substitution.key, file: substitution.fileURL, url)
            return .failed(plan, .unreadable(error, url))
        }
    }

    /// Returns an entry's response whose body is in a large file, which the client reads in pieces. Returns `nil` if
    /// the file isn't large or must be read whole.
    private func serveInPieces(
        _ plan: Plan,
        by substitution: Substitution,
        _ url: URL
    ) throws(FileProblem) -> RequestOutcome? {
        guard let name = substitution.fileName, let folder = plan.folder, plan.question == nil,
            substitution.pace?.isEven ?? true, HTTPSyntax.hasBody(status: substitution.status),
            let file = try ResponseBuilder.LargeFile(opening: name, in: folder)
        else { return nil }
        let builder = ResponseBuilder(substitution: substitution, file: nil, large: file, traits: traits)
        let range = plan.range.flatMap(builder.range)
        guard let whole = plan.range.map({ builder.part($0, for: url) }) ?? builder.full(for: url)
        else { return nil }
        responder.maps.use(plan)
        let response = sent(whole, plan)
        let hasBody = plan.request.httpMethod != "HEAD" && response === whole
        let body = ResponseBuilder.LargeFile.Part(file: file, range: hasBody ? range ?? 0..<file.status.size : 0..<0)
        return RequestOutcome(.matched, plan, .success(response), largeBody: body)
    }

    /// Returns what a client gets of a response. A handler sees the request's preconditions, and decides itself.
    private func sent(_ response: CachedURLResponse, _ plan: Plan) -> CachedURLResponse {
        plan.isHandled ? response : response.meetingPreconditions(of: plan.request)
    }

    /// Returns the bytes of one piece of an entry's stream.
    ///
    /// - Throws: An error if the piece's file can't be read, or the error of a piece that has no bytes.
    func bytes(of piece: Entry.Piece, _ plan: Plan, _ substitution: Substitution) throws(URLError) -> Data {
        let url = plan.request.url
        switch piece.content {
        case .data(let data): return data
        case .error(let code): throw .ofEntry(substitution.key, code, url)
        case .file(let name):
            guard let url, let folder = plan.folder else { throw .unreadable(.missing, url) }
            do throws(FileProblem) {
                return try responder.read(name.text, in: folder, for: plan).data
            } catch {
                responder.report(error, key: substitution.key, file: folder.url(of: name.text), url)
                throw .unreadable(error, url)
            }
        }
    }

    /// Fails a request because its entry says so.
    ///
    /// - Parameter bytes: The size of the part of the body that the client already has; 0 by default.
    func fail(
        _ plan: Plan,
        by substitution: Substitution,
        _ code: URLError.Code,
        after bytes: Int = 0
    ) -> RequestOutcome {
        fail(plan, .ofEntry(substitution.key, code, plan.request.url), after: bytes)
    }

    /// Fails a request with an error from its entry or from the entry's handler.
    func fail(_ plan: Plan, _ error: URLError, after bytes: Int = 0) -> RequestOutcome {
        responder.maps.use(plan)
        return RequestOutcome(.erred, plan, .failure(error), bytes: bytes)
    }

    /// Fails a request whose handler can't be called, threw an error, or returned an answer that isn't allowed.
    ///
    /// - Parameter message: What's wrong and how to fix it.
    func mishandled(_ plan: Plan, _ message: String) -> RequestOutcome {
        responder.maps.use(plan)
        let error = URLError.explained(.badServerResponse, message, plan.request.url)
        return RequestOutcome(.mishandled(message), plan, .failure(error))
    }

    /// Answers with a recorder's kept copy. Returns `nil` if there's no copy, and a failure if the copy can't be read.
    ///
    /// - Parameter isConfirmed: Whether the server has just confirmed that the copy is current; `false` by default.
    func replay(_ plan: Plan, _ recorder: any ResponseRecorder, isConfirmed: Bool = false) -> RequestOutcome? {
        guard let url = plan.request.url else { return nil }
        do throws(FileProblem) {
            guard let response = try recorder.answer(plan.request).map({ sent($0, plan) }) else { return nil }
            return RequestOutcome(isConfirmed ? .confirmed : .matched, plan, .success(response))
        } catch {
            return .failed(plan, .unreadable(error, url))
        }
    }

    /// Fails a request that nothing answers, because its session isn't allowed to reach the network.
    func unmatched(_ plan: Plan) -> RequestOutcome {
        responder.maps.uncount(plan)
        let explanation = Explanation(plan)
        // If the session's listener explains the failure, the error's description is short.
        let isBrief = plan.rules?.listener?.explainsUnmatched == true
        let error = isBrief ? URLError.unmatchedInBrief(explanation) : .unmatched(explanation)
        return RequestOutcome(.unmatched(explanation), plan, .failure(error))
    }

    /// Returns whether the entry for a URL is `null`.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }
            .map { responder.maps.layers.match($0, for: .plain).isExcluded } ?? false
    }
}
