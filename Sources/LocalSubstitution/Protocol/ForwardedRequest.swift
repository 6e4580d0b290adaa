import Dispatch
import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request on its way to the network, and the events that arrive for it.
final class ForwardedRequest: Sendable {
    enum Event: Sendable {
        /// A redirect, with the request for its target. Call the closure with the request to send, or with `nil` to
        /// take the redirect itself as the response.
        case redirected(URLRequest, answer: @Sendable (URLRequest?) -> Void)
        /// The network's response. A body longer than the limit has already been streamed; the response's body is then
        /// `nil`.
        case received(Response)
        /// - Parameter fallback: What responds instead; `nil` if nothing does. Nothing responds instead if part of the
        ///   response was streamed, or if the error isn't the network's.
        case failed(URLError, fallback: Plan.Fallback?)
    }

    private struct State: Sendable {
        /// The task; `nil` before the request is sent and once it's cancelled.
        var task: URLSessionDataTask?
        var isPartial = false
        var isEnded = false
    }

    let plan: Plan
    let fallback: Plan.Fallback?
    /// The request to send, with its entry's changes and, if ``isConditional``, with the recorded response's
    /// validators.
    let request: URLRequest
    /// Whether the request has the recorded response's validators, so that a 304 confirms that response.
    let isConditional: Bool
    private let attachment: Attachment
    private let client: RequestLoad.Client
    /// The header by which the session identifies its user, if any. It's determined before the request is sent, since a
    /// response may set a cookie.
    private let credentialHeader: String?
    private let state = Guarded(State())
    private let stream = AsyncStream.makeStream(of: Event.self)

    /// - Parameters:
    ///   - client: Receives the pieces of the response, unless the response is held until it's complete. Also receives
    ///     the pieces of a held response that becomes too long to hold.
    ///   - body: The request's body if it was read from a stream; otherwise `nil`.
    ///   - isConditional: Whether to add the recorded response's validators, if there are any.
    init(
        _ plan: Plan,
        _ fallback: Plan.Fallback?,
        in attachment: Attachment,
        for client: RequestLoad.Client,
        body: BodyReader.Body?,
        isConditional: Bool
    ) {
        self.plan = plan
        self.fallback = fallback
        self.attachment = attachment
        self.client = client
        credentialHeader = attachment.forwarder.credentialHeader(for: plan.request.url)
        var request = plan.request
        plan.substitution?.change(&request)
        let isFixed = plan.fixedHeaders.contains { $0.isSameHeader(as: "Authorization") }
        if !attachment.sendsCredentials, !isFixed { request.setValue(nil, forHTTPHeaderField: "Authorization") }
        body?.replaceStream(of: &request)
        var validators: Validators?
        if isConditional, case .recorder(let recorder)? = fallback { validators = recorder.validators(for: request) }
        validators?.makeConditional(&request)
        self.isConditional = validators != nil
        self.request = request
    }

    /// Whether the client has a part of the response.
    var isPartial: Bool { state.withLock { $0.isPartial } }

    /// The entry that responds if the network fails; `nil` if none does.
    var entryFallback: Substitution? { if case .entry(let substitution)? = fallback { substitution } else { nil } }

    /// Whether the response is held until it's complete, so that the fallback can still respond when the network fails
    /// midway. An event stream isn't held, since it may take hours: if the fallback is an entry, ``collectorOwner``
    /// holds 0 bytes of a stream, unless the client collects the pieces anyway.
    private var isHeld: Bool {
        switch fallback {
        case nil: false
        case .entry: true
        case .recorder(let recorder):
            // A 304 must not reach the client, even if the recorded response that it confirms is gone by now.
            isConditional || recorder.hasAnswer(to: plan.request) && !recorder.expectsStream(plan.request)
        }
    }

    /// The headers that the session must not add, because the entry sets or removes them.
    var fixedHeaders: [String] { plan.fixedHeaders }

    /// Returns why the response isn't recorded if the session identifies its user to one of the servers by a header.
    /// Returns `nil` if the session sends no such header.
    ///
    /// - Parameter redirects: The requests for the redirects' targets.
    func credential(after redirects: [URLRequest]) -> Complaint? {
        if let credentialHeader { return .requestHeader(credentialHeader) }
        let header = redirects.lazy.compactMap { [attachment] in attachment.forwarder.credentialHeader(for: $0.url) }
            .first
        return header.map { .redirect(.requestHeader($0)) }
    }
}

/// Sends the request, and reports the events that arrive for it.
extension ForwardedRequest {
    /// The events: any redirects, then the response or an error. No event follows ``cancel()`` or ``stop()``.
    var events: AsyncStream<Event> { stream.stream }

    var limit: Int { attachment.responseLimit }

    /// The usual limit for a body in memory, in bytes: 256 MiB.
    static let usualLimit = 256 << 20

    /// Must not be called on the loader's thread.
    func send() {
        let task = attachment.forwarder.task(for: self)
        if let priority = client.task?.priority { task.priority = priority }
        state.withLock { $0.task = task }
        task.resume()
        guard let timeout = entryFallback?.options.fields.timeout else { return }
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + timeout) { [weak self] in
            guard let self else { return }
            LoaderThread.runAsDelegate(self.attachment.traits) {
                // Once a piece was streamed, nothing else can respond.
                if self.end(URLError(.timedOut), unlessPartial: true) { self.cancelTask() }
            }
        }
    }

    /// The client gets nothing more.
    func cancel() {
        stop()
        cancelTask()
    }

    /// Stops streaming, and ends the events. The request itself isn't cancelled.
    func stop() {
        state.withLock { $0.isEnded = true }
        stream.continuation.finish()
    }

    private func cancelTask() {
        guard let task = state.withLock({ $0.task.take() }) else { return }
        guard attachment.traits.contains(.sessionsShareQueue) else { return task.cancel() }
        // Protocols are stopped on the queue for which `cancel` waits, so `cancel` is called on another queue. Before
        // that, the answer to a redirect must reach the loader's queue, or Linux's loader traps
        // (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
        LoaderThread.runAsDelegate(attachment.traits) {
            DispatchQueue.global(qos: .userInitiated).async { task.cancel() }
        }
    }

    /// The owner of the task for ``ResponseCollector``.
    var collectorOwner: ResponseCollector.Owner {
        let heldLimit = fallback != nil || attachment.rules.listener != nil ? limit : 0
        let passesStreams = entryFallback != nil && !attachment.client.waitsForWhole
        return ResponseCollector.Owner(
            limit: { passesStreams && $0.mimeType == MIMEType.eventStream ? 0 : heldLimit },
            body: isHeld ? .wholeOrPieces { self.pass($0) } : .pieces { self.pass($0) },
            redirect: { self.redirect(to: $0, $1) },
            answerChallenge: { [client] challenge, answer in
                client.answerChallenge(
                    URLAuthenticationChallenge(authenticationChallenge: challenge, sender: ChallengeRelay(answer))
                )
            }
        ) { [self] result in
            switch result {
            case .success(let response): end { _ in .received(response) }
            case .failure(let error): end(error)
            }
        }
    }

    /// Gives the client a piece, unless the request has ended: after a timeout, the fallback may have responded
    /// already. Once the client has a piece, nothing else may respond.
    private func pass(_ piece: ResponseCollector.Piece) {
        let mayPass = state.withLock { state in
            if !state.isEnded { state.isPartial = true }
            return !state.isEnded
        }
        guard mayPass else { return }
        switch piece {
        case .head(let head): client.receive(.head(plan.changed(head), .forwarded))
        case .data(let data): client.receive(.data(data))
        }
    }

    private func redirect(to request: URLRequest, _ follow: @escaping @Sendable (URLRequest?) -> Void) {
        let answer: @Sendable (URLRequest?) -> Void = { [self] next in
            LoaderThread.runAsDelegate(attachment.traits) { [self] in
                // Answers with the lock held, so that the task isn't cancelled in between. A cancelled task has stopped
                // waiting for an answer, and answering it traps on Linux.
                state.withLock { if $0.task != nil { follow(next) } }
            }
        }
        stream.continuation.yield(.redirected(request, answer: answer))
    }

    @discardableResult
    private func end(_ error: URLError, unlessPartial: Bool = false) -> Bool {
        end(unlessPartial: unlessPartial) { isPartial in
            .failed(error, fallback: isPartial || !error.isOfNetwork(attachment.traits) ? nil : fallback)
        }
    }

    /// Adds the last event and ends the events. Later calls have no effect.
    ///
    /// - Parameters:
    ///   - unlessPartial: Whether to do nothing if a piece was streamed; `false` by default.
    ///   - make: Returns the event, which may depend on whether a piece was streamed.
    /// - Returns: Whether this call ended the events.
    @discardableResult
    private func end(unlessPartial: Bool = false, _ make: (_ isPartial: Bool) -> Event) -> Bool {
        let isPartial = state.withLock { state -> Bool? in
            guard !state.isEnded, !(unlessPartial && state.isPartial) else { return nil }
            state.isEnded = true
            return state.isPartial
        }
        guard let isPartial else { return false }
        stream.continuation.yield(make(isPartial))
        // Drops a later redirect: no load reads it, and its closure would keep this request alive.
        stream.continuation.finish()
        return true
    }
}

extension Plan {
    /// The names of the request headers that the entry sets or removes, or that entries of earlier maps do.
    fileprivate var fixedHeaders: [String] {
        let entries = (match?.changes ?? []) + [substitution].compactMap { $0 }
        return entries.flatMap { $0.options.fields.requestHeaders.map(\.name) }
    }

    /// Returns the head of the network's response as the client gets it: with the URL that the client requested, and
    /// with the headers that the entry sets.
    func changed(_ head: URLResponse) -> URLResponse {
        guard let substitution, case .network = substitution.answer,
            substitution.target != nil || !substitution.headers.isEmpty, let http = head as? HTTPURLResponse,
            let url = http.url
        else { return head }
        var fields = http.headers
        if substitution.target != nil,
            let location = fields[header: "Location"].flatMap({ URL(string: $0, relativeTo: url)?.absoluteURL })
        {
            // A relative location is relative to the target, not to the URL that the client requested.
            fields[header: "Location"] = (original(of: location) ?? location).absoluteString
        }
        for (name, value) in substitution.headers { fields[header: name] = value }
        return HTTPURLResponse(
            url: (url == substitution.target?.url ? request.url : original(of: url)) ?? url,
            statusCode: http.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        ) ?? head
    }

    /// Returns the URL whose requests the entry forwards to a given URL, such as a redirect's target; `nil` if there's
    /// none.
    func original(of url: URL) -> URL? {
        guard let match, let winner = match.winner,
            let original = substitution?.target?.original(of: url),
            let target = try? NormalizedURL(url.absoluteString).text,
            let normal = try? NormalizedURL(original.absoluteString),
            let same = match.layer.map.storage.index.candidates(for: normal).first(where: {
                $0.number == match.number
            }),
            let filled = try? winner.forwardTarget?.filled(with: same.captures, for: normal),
            (try? NormalizedURL(filled.url.absoluteString).text) == target
        else { return nil }
        return original
    }
}

extension ForwardedRequest {
    /// The sender of a challenge that the forwarding session has received. It gives the forwarding session the answer
    /// of the client's session.
    final class ChallengeRelay: NSObject, URLAuthenticationChallengeSender, Sendable {
        typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

        /// Receives the answer; `nil` after the first answer, since a session accepts only one.
        private let answer: Guarded<Answer?>

        init(_ answer: @escaping Answer) { self.answer = Guarded(answer) }

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
            respond(.useCredential, credential)
        }

        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { respond(.useCredential, nil) }

        func cancel(_ challenge: URLAuthenticationChallenge) { respond(.cancelAuthenticationChallenge, nil) }

        func performDefaultHandling(for challenge: URLAuthenticationChallenge) { respond(.performDefaultHandling, nil) }

        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
            respond(.rejectProtectionSpace, nil)
        }

        private func respond(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
            answer.withLock { $0.take() }?(disposition, credential)
        }
    }
}
