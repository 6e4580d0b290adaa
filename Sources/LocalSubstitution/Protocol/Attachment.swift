import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An attached session: its map, its rules, how requests are forwarded, and the outcomes that the map gives them. The
/// server and ``LocalSubstitutionCache/answer(to:)`` use one, too.
final class Attachment: Sendable {
    /// Who gets the responses. It decides what a load leaves to its client.
    enum Client: Sendable {
        /// A URLSession.
        case session
        /// A server, for a browser or another HTTP client.
        case server
        /// Code that calls ``LocalSubstitutionCache/answer(to:)``.
        case caller
        /// A handler that calls ``SubstitutionMap/Request/response()``.
        case handler

        /// Whether it follows redirects itself, so that a redirect is its response.
        var followsRedirects: Bool { self == .server || self == .caller }
        /// Whether it reads bodies on a thread of its own: large files in parts, each body at its rate, and for as long as
        /// it wants.
        var readsBodies: Bool { self == .server }
        /// Whether it loads the requests that no entry matches. So a load follows a redirect only to an entry, and doesn't
        /// read a stream with the request's body.
        var loadsUnmatched: Bool { self == .caller }
        /// Whether a part of a response is of no use to it.
        var waitsForWhole: Bool { self == .caller || self == .handler }
    }

    let responder: Responder
    /// The traits of the client's loader. Only a URLSession hides bodies.
    let traits: LoaderTraits
    let rules: SessionRules
    let forwarder: Forwarder
    /// The longest body of a network response to hold in memory, in bytes. A longer body is streamed.
    let responseLimit: Int
    let client: Client
    /// Whether a request's `Authorization` header is forwarded to the network.
    let sendsCredentials: Bool
    /// The layers in which requests are looked up, if a handler makes them; `nil` for the cache's.
    private let layersBelow: MapLayers?

    /// - Parameters:
    ///   - configuration: The configuration with which requests are forwarded.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for 256 MiB. A longer body is streamed.
    ///   - traits: The traits of the client's loader; by default, those of the cache.
    init(
        of responder: Responder,
        to configuration: URLSessionConfiguration,
        rules: SessionRules = .load,
        responseLimit: Int? = nil,
        for client: Client = .session,
        sendsCredentials: Bool = true,
        traits: LoaderTraits? = nil
    ) {
        self.responder = responder
        self.traits = traits ?? responder.traits
        self.rules = rules
        self.client = client
        self.sendsCredentials = sendsCredentials
        self.responseLimit = responseLimit ?? ForwardedRequest.usualLimit
        layersBelow = nil
        forwarder = Forwarder(configuration, self.traits)
    }

    /// Creates the attachment that loads the response that a handler asks for. It looks in the layers after the
    /// handler's, and counts nothing.
    ///
    /// - Parameter plan: The plan that calls the handler.
    init(_ attachment: Attachment, forHandlerOf plan: Plan, responseLimit: Int) {
        (responder, traits, forwarder) = (attachment.responder, attachment.traits, attachment.forwarder)
        // A recorder doesn't get the response, as it doesn't get responses to requests that entries forward. A test's
        // recording run does.
        rules = SessionRules(copying: attachment.rules, recorder: nil)
        client = .handler
        sendsCredentials = attachment.sendsCredentials
        self.responseLimit = responseLimit
        layersBelow = plan.layers.below(plan.layer)
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

    /// Returns a request's body as far as it's known without reading its stream, on the loader's queue or elsewhere.
    ///
    /// - Parameter isHidden: Whether the request's task has a body that Foundation hides; `false` by default.
    func body(of request: URLRequest, isHidden: Bool = false) -> RequestFacts.Body {
        // A stream can be read only once.
        client.loadsUnmatched && request.httpBodyStream != nil
            ? .hidden : .onLoaderQueue(request, isHidden: isHidden)
    }

    func lookUp(_ request: URLRequest) -> Plan { lookUp(request, body: body(of: request)) }

    /// - Parameter body: The request's body, as far as it's known.
    func lookUp(_ request: URLRequest, body: RequestFacts.Body) -> Plan {
        let request = withoutStoredCookies(request)
        guard let layersBelow else { return responder.lookUp(request, body: body, rules: rules, traits: traits) }
        return Plan(request, body: body, rules: rules, isOffline: rules.isStrict, in: layersBelow, traits: traits)
    }

    /// Returns a request without the cookies that URLSession added from the session's storage. The server to which an
    /// entry forwards mustn't get them. If the request goes to its own URL, the forwarding session adds them again.
    private func withoutStoredCookies(_ request: URLRequest) -> URLRequest {
        guard traits.contains(.showsStoredCookies), let cookies = request.value(forHTTPHeaderField: "Cookie"),
            cookies == forwarder.storedCookies(for: request.url)
        else { return request }
        var request = request
        request.setValue(nil, forHTTPHeaderField: "Cookie")
        return request
    }

    /// Decides about a request now, and counts the response if its alternative has a limit of `times`.
    ///
    /// - Parameters:
    ///   - body: The request's body, as far as it's known.
    ///   - intercepted: The plan that was made when a protocol intercepted the request; `nil` to look the request up. A
    ///     plan of another session is ignored.
    ///   - reportsGoneFiles: Whether to report entries that were skipped because their files are missing; `true` by
    ///     default.
    func decide(
        _ request: URLRequest,
        body: RequestFacts.Body,
        _ intercepted: Plan? = nil,
        reportsGoneFiles: Bool = true
    ) -> Plan {
        var plan = intercepted.flatMap { $0.rules === rules ? $0 : nil } ?? lookUp(request, body: body)
        guard layersBelow == nil else { return plan }
        // Another request may have used up the alternative since the lookup.
        while !plan.count() { plan = lookUp(request, body: body) }
        if reportsGoneFiles { responder.reportGoneFiles(plan) }
        return plan
    }

    /// Refuses a plan's request, or returns its entry's response, on the current thread. Returns `nil` for any other
    /// action, for an entry with a delay, rate or stream, and, in an attached session, for a redirect or a file that
    /// isn't in memory.
    func outcomeAtOnce(_ plan: Plan) -> RequestOutcome? {
        switch plan.action {
        case .refuse:
            unmatched(plan)
        case .answer(let substitution) where respondsAtOnce(substitution):
            client.readsBodies || responder.isAtHand(plan) ? serve(plan, by: substitution) : nil
        default:
            nil
        }
    }

    /// Returns whether an entry can respond at once: with no delay, rate or stream and, in an attached session, no
    /// redirect.
    func respondsAtOnce(_ substitution: Substitution) -> Bool {
        substitution.options.fields.delay == nil && !substitution.takesTime && !follows(substitution)
    }

    /// Returns whether a load may follow an entry's redirect.
    private func follows(_ substitution: Substitution) -> Bool {
        substitution.isFollowed && (!client.followsRedirects || client.loadsUnmatched)
    }

    /// Returns the request for a redirect's target, if a client that loads unmatched requests itself got the redirect,
    /// and an entry matches, or may match, its target. Returns `nil` for any other outcome or client, and for an entry's
    /// redirect that isn't followed.
    func request(after outcome: RequestOutcome) -> URLRequest? {
        guard client.loadsUnmatched, outcome.plan?.substitution?.options.fields.follow != false,
            let next = outcome.plan?.request.redirected(by: outcome.response?.head), lookUp(next).hasEntry
        else { return nil }
        return next
    }
}

/// The outcomes of requests. A protocol also responds to requests for which URLSession doesn't ask a cache or rejects
/// the cache's response.
extension Attachment {
    /// Returns an entry's response, without waiting for the entry's delay, even if the loader wouldn't accept the
    /// response from a cache. If the entry's file can't be read, returns a failure.
    func serve(_ plan: Plan, by substitution: Substitution) -> RequestOutcome {
        guard let url = plan.request.url else { return .failed(plan, URLError(.badURL)) }
        do throws(Complaint) {
            if client.readsBodies, let outcome = try serveInPieces(plan, by: substitution, url) {
                return outcome
            }
            guard let response = try responder.response(to: plan, by: substitution).map({ sent($0, plan) }) else {
                return .failed(plan, URLError(.badURL))
            }
            return RequestOutcome(.matched, plan, .success(Response(response)))
        } catch {
            plan.uncount()
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
    ) throws(Complaint) -> RequestOutcome? {
        guard let name = substitution.fileName, let folder = plan.folder, plan.question == nil,
            substitution.rate?.isEven ?? true, HTTPSyntax.hasBody(status: substitution.status),
            let file = try FileBytes.Large(opening: name, in: folder)
        else { return nil }
        let builder = ResponseBuilder(
            substitution: substitution,
            file: nil,
            large: file,
            isHandled: plan.isHandled,
            traits: traits
        )
        let range = plan.range.flatMap(builder.range)
        guard let whole = plan.range.map({ builder.part($0, for: url) }) ?? builder.full(for: url)
        else { return nil }
        plan.use()
        let response = sent(whole, plan)
        let hasBody = plan.request.httpMethod != "HEAD" && response === whole
        let body = Response.Body.file(file, hasBody ? range ?? 0..<file.status.size : 0..<0)
        return RequestOutcome(.matched, plan, .success(Response(response.response, body)))
    }

    /// Returns what a client gets of a response. A handler sees the request's preconditions, and decides itself.
    private func sent(_ response: CachedURLResponse, _ plan: Plan) -> CachedURLResponse {
        plan.isHandled ? response : response.meetingPreconditions(of: plan.request)
    }

    /// Returns the bytes of a file in an entry's stream.
    func bytes(of name: FileName, _ plan: Plan, _ substitution: Substitution) throws(URLError) -> Data {
        let url = plan.request.url
        guard let url, let folder = plan.folder else { throw .unreadable(.missingFile, url) }
        do throws(Complaint) {
            return try responder.read(name.text, in: folder, for: plan).data
        } catch {
            plan.uncount()
            responder.report(error, key: substitution.key, file: folder.url(of: name.text), url)
            throw .unreadable(error, url)
        }
    }

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
        plan.use()
        return RequestOutcome(.erred, plan, .failure(error), bytes: bytes)
    }

    /// Fails a request whose handler can't be called, threw an error, or returned an answer that isn't allowed.
    ///
    /// - Parameter message: What's wrong and how to fix it.
    func mishandled(_ plan: Plan, _ message: String) -> RequestOutcome {
        plan.use()
        let error = URLError.explained(.badServerResponse, message, plan.request.url)
        return RequestOutcome(.mishandled(message), plan, .failure(error))
    }

    /// Returns `nil` if there's no recorded response, and a failure if it can't be read.
    ///
    /// - Parameter isConfirmed: Whether the server has just confirmed that the recorded response is current; `false` by
    ///   default.
    func replay(_ plan: Plan, _ recorder: any ResponseRecorder, isConfirmed: Bool = false) -> RequestOutcome? {
        guard let url = plan.request.url else { return nil }
        do throws(Complaint) {
            guard let (response, file) = try recorder.answer(plan.request) else { return nil }
            return RequestOutcome(
                isConfirmed ? .confirmed : .matched,
                plan,
                .success(Response(sent(response, plan))),
                recordedFile: file
            )
        } catch {
            return .failed(plan, .unreadable(error, url))
        }
    }

    /// Returns the failure of a download task that a protocol can't finish. Returns `nil` for any other task, and if the
    /// request fails anyway.
    func downloadFailure(_ plan: Plan, _ task: URLSessionTask?) -> RequestOutcome? {
        // `canInit(with:)` can't check this: it receives a request and not its task.
        guard task?.isUnfinishable(traits) == true else { return nil }
        switch plan.action {
        case .fail, .refuse: return nil
        case .answer, .call, .forward, .pass, .readBody, .replay: break
        }
        plan.uncount()
        return .failed(
            plan,
            .explained(
                .unsupportedURL,
                "On Linux, Foundation can't finish a download task from a URLProtocol. "
                    + "Use a data task, and write the file yourself.",
                plan.request.url
            )
        )
    }

    /// Fails a request to which nothing responds, because its session isn't allowed to reach the network.
    func unmatched(_ plan: Plan) -> RequestOutcome {
        plan.uncount()
        let explanation = Explanation(plan)
        let note = plan.rules?.listener?.unmatchedNote
        let error = note.map { URLError.unmatched(explanation, note: $0) } ?? .unmatched(explanation)
        return RequestOutcome(.unmatched(explanation), plan, .failure(error))
    }

    /// Returns whether the entry that matches a URL is `null`.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }
            .map { responder.maps.layers.match($0, for: .plain).isExcluded } ?? false
    }
}
