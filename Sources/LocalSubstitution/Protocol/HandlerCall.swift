import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A call of an entry's handler, and what the handler asks with ``SubstitutionMap/Request/response()``: in a test, the
/// entries of the layers after the handler's, and then the server.
final class HandlerCall: Sendable {
    private struct State: Sendable {
        var wasAsked = false
        /// Whether the handler has returned, or its request has ended without it.
        var isOver = false
        var load: Task<Void, Never>?
    }

    /// A client's call of a handler, which may call ``LocalSubstitutionCache/answer(to:)``, which may call a handler, and
    /// so on.
    private final class Outermost: Sendable {
        /// The call in which a task runs; `nil` outside a handler.
        static let ofTask = TaskLocal<Outermost?>(wrappedValue: nil)

        let isAbandoned = Guarded(false)
    }

    /// Whether the current task runs in a handler whose client's request has timed out or was cancelled. All calls in it
    /// end then: cancelling one after the other wouldn't catch up with a handler that calls itself.
    static var isAbandoned: Bool { Outermost.ofTask.get()?.isAbandoned.withLock { $0 } == true }

    /// The longest body that a handler gets, in bytes: 64 MiB.
    static let limit = 64 << 20

    private let handler: Entry.Handler
    /// The substitution of the handler's entry.
    private let called: Substitution
    /// The plan that calls the handler.
    private let plan: Plan
    /// The request's body if it was read from a stream; otherwise, `nil`.
    private let body: BodyReader.Body?
    private let attachment: Attachment
    private let client: RequestLoad.Client
    private let state = Guarded(State())

    init(
        of handler: Entry.Handler,
        _ called: Substitution,
        for plan: Plan,
        body: BodyReader.Body?,
        in attachment: Attachment,
        for client: RequestLoad.Client
    ) {
        (self.handler, self.called, self.plan) = (handler, called, plan)
        (self.body, self.attachment, self.client) = (body, attachment, client)
    }

    /// Calls the handler. Returns the plan with its answer, or a failure.
    func step(within timeout: RequestTimeout) async throws(URLError) -> RequestLoad.Step {
        defer { end() }
        guard let call = handler.call, let url = plan.match?.url,
            let request = SubstitutionMap.Request(
                plan.request,
                body: plan.body,
                captures: called.captures,
                ask: { try await self.response() }
            )
        else { return .end(attachment.mishandled(plan, handler.refusal)) }
        let name = "The handler of the entry “\(called.key)”"
        switch try await answer(within: timeout, by: { try await call(request) }) {
        case .failure(let error):
            if let error = URLError(bridging: error) { return .end(attachment.fail(plan, error)) }
            if let calls, calls.hasEnded { throw URLError(.cancelled) }
            if let calls, calls.isReported(error) {
                let text = "\(name) failed an expectation. Another issue of this test says which."
                return .end(attachment.fail(plan, .explained(.badServerResponse, text, plan.request.url)))
            }
            return .end(
                attachment.mishandled(
                    plan,
                    "\(name) threw an error: \("\(error)".sentence) Correct the handler. To fail the request, throw a URLError."
                )
            )
        case .success(let answer):
            do throws(Complaint) {
                let handled = try Substitution.handled(answer, by: called, in: plan.folder, url: url)
                plan.use()
                return .next(Plan(plan, answeredWith: handled))
            } catch {
                return .end(attachment.mishandled(plan, "\(name) returned a wrong answer: \(error)"))
            }
        }
    }

    /// Runs the handler: in a test, as a part of the test.
    private func answer(
        within timeout: RequestTimeout,
        by call: @escaping @Sendable () async throws -> SubstitutionMap.Answer
    ) async throws(URLError) -> Result<SubstitutionMap.Answer, any Error> {
        let outermost = Outermost.ofTask.get()
        let own = outermost ?? Outermost()
        let body = { @Sendable in try await Outermost.ofTask.withValue(own) { try await call() } }
        do throws(URLError) {
            return try await timeout.value(for: plan.request.url, of: body) { body in
                if let calls { return calls.start(called.key, body) }
                let task = TaskThreads.handlers.task(body)
                return { task.cancel() }
            }
        } catch {
            if outermost == nil { own.isAbandoned.withLock { $0 = true } }
            throw error
        }
    }

    private var calls: (any SessionRules.HandlerCaller)? { attachment.rules.listener?.handlerCalls }

    /// Cancels what the handler still loads. Later calls of ``response()`` throw `cancelled`.
    private func end() {
        let load = state.withLock { state in
            state.isOver = true
            return state.load.take()
        }
        load?.cancel()
    }

    /// What the handler gets from ``SubstitutionMap/Request/response()``.
    private func response() async throws -> SubstitutionMap.Answer {
        try RequestLoad.checkCancellation()
        let (wasAsked, isOver) = state.withLock { state in
            defer { state.wasAsked = true }
            return (state.wasAsked, state.isOver)
        }
        if isOver { throw URLError(.cancelled) }
        if wasAsked {
            throw Complaint("The handler has called response() before. Call it once, and keep what it returns.")
        }
        let attachment = Attachment(attachment, forHandlerOf: plan, responseLimit: Self.limit)
        let asked = attachment.decide(plan.request, body: plan.body)
        let (outcome, body) = await load(asked, in: attachment)
        let result = result(of: outcome, body)
        client.hearServer(plan.request, outcome.failing(with: result.error))
        return try result.get()
    }

    /// Loads the whole response. Returns the outcome and the body.
    private func load(_ asked: Plan, in attachment: Attachment) async -> (RequestOutcome, Data?) {
        let (events, event) = AsyncStream.makeStream(of: RequestLoad.Event.self)
        let parts = RequestLoad.Client(
            task: client.task,
            answerChallenge: client.answerChallenge,
            hearServer: client.hearServer
        ) { event.yield($0) }
        let load = RequestLoad.start(asked, requestBody: body, in: attachment, for: parts)
        let isOver = state.withLock { state in
            state.load = load
            return state.isOver
        }
        if isOver { load.cancel() }
        defer { load.cancel() }
        if let loaded = await events.outcome(upTo: Self.limit) { return loaded }
        return (.failed(asked, Task.isCancelled ? URLError(.cancelled) : tooLong), nil)
    }

    private func result(of outcome: RequestOutcome, _ body: Data?) -> Result<SubstitutionMap.Answer, URLError> {
        switch outcome.result {
        case .failure(let error):
            guard case .unmatched(let explanation) = outcome.kind else { return .failure(error) }
            return .failure(.unmatched(explanation, askedBy: plan.substitution?.key ?? ""))
        case .success(let response):
            let body = body ?? Data()
            guard let http = response.head as? HTTPURLResponse else { return .failure(URLError(.badServerResponse)) }
            guard body.count <= Self.limit else { return .failure(tooLong) }
            return .success(SubstitutionMap.Answer(http, body))
        }
    }

    private var tooLong: URLError {
        .explained(
            .dataLengthExceedsMaximum,
            "The response is longer than \(Self.limit.grouped) bytes, the most that response() returns. Use “forwardTo” for "
                + "such a URL.",
            plan.request.url
        )
    }
}

extension Result where Failure == URLError {
    fileprivate var error: URLError? { if case .failure(let error) = self { error } else { nil } }
}

extension URLError {
    /// For a handler that asks the server in a strict session. The description contains no credentials.
    ///
    /// - Parameters:
    ///   - explanation: What the layers after the handler's say about the request.
    ///   - key: The key of the handler's entry.
    fileprivate static func unmatched(_ explanation: Explanation, askedBy key: String) -> URLError {
        let shown = ShownURL(explanation.url)
        let skipped = explanation.skipped.map { "\n  skipped:      \($0)" }.joined()
        let text =
            "The handler of the entry “\(key)” called response() for \(explanation.method) \(shown.text), but the "
            + "request can't use the network. Allow the URL with “unmatched:”."
        return .explained(.resourceUnavailable, shown.withoutCredentials(text + skipped), URL(string: shown.text))
    }
}
