import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a handler's ``SubstitutionMap/Request/response()`` asks: in a test, the entries of the layers after the
/// handler's, and then the server.
final class HandlerServer: Sendable {
    private struct State: Sendable {
        var wasAsked = false
        /// Whether the handler has returned, or its request has ended without it.
        var isOver = false
        var load: Task<Void, Never>?
    }

    /// The longest body that a handler gets, in bytes: 64 MiB.
    static let limit = 64 << 20

    /// The plan that calls the handler.
    private let plan: Plan
    /// The request's body if it was read from a stream; otherwise, `nil`.
    private let body: BodyReader.Body?
    private let attachment: Attachment
    private let client: RequestLoad.Client
    private let state = Guarded(State())

    init(for plan: Plan, body: BodyReader.Body?, in attachment: Attachment, for client: RequestLoad.Client) {
        (self.plan, self.body, self.attachment, self.client) = (plan, body, attachment, client)
    }

    /// Cancels what the handler still loads. Later calls of ``response()`` throw `cancelled`.
    func end() {
        let load = state.withLock { state in
            state.isOver = true
            return state.load.take()
        }
        load?.cancel()
    }

    func response() async throws -> SubstitutionMap.Answer {
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
