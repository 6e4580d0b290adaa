package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A loader that answers as an attached session would, but for a client that isn't a URLSession: the server, the
/// command, or code that uses another HTTP client.
package final class DirectLoader: Sendable {
    private let attachment: Attachment

    init(_ attachment: Attachment) { self.attachment = attachment }

    /// Loads a request. Blocks the thread until the response begins. Doesn't follow redirects: returns them. Returns a
    /// long body in pieces.
    ///
    /// - Parameters:
    ///   - request: The request, with its whole body.
    ///   - isWanted: Called every half second while this method or its response waits. If the closure returns `false`,
    ///     the request is cancelled.
    package func load(_ request: URLRequest, isWanted: @escaping @Sendable () -> Bool) -> Response {
        if let retained = attachment.responder.retainedResponse(for: request) {
            return Response(RequestOutcome(.matched, nil, .success(retained)))
        }
        let plan = attachment.decide(request, body: RequestFacts.Body(request))
        let end = RequestEnd(of: plan, in: attachment.responder)
        if let outcome = attachment.outcomeAtOnce(plan) {
            end.report(outcome)
            return Response(outcome)
        }
        let arriving = ArrivingResponse(isWanted: isWanted, end: end)
        // The reference is weak: a client that has left releases the response, which then cancels the load.
        let client = RequestLoad.Client(end: end) { [weak arriving] in arriving?.add($0) }
        arriving.wait(for: RequestLoad.start(plan, in: attachment, for: client))
        switch arriving.next() {
        case .head(let head, let kind)?: return Response(kind, head, .arriving(arriving))
        case .end(let outcome)?: return Response(outcome)
        case .data?, nil: return Response(.failed(plan, URLError(.cancelled)))
        }
    }

    /// Loads a request and returns the whole response; `nil` if the map leaves the request to the client. Follows a
    /// redirect if the map answers its target, and otherwise returns the redirect.
    func answer(to request: URLRequest) async throws(URLError) -> (Data, HTTPURLResponse)? {
        let (outcome, response) = await lastResponse(to: request)
        if let plan = outcome.plan { RequestEnd(of: plan, in: attachment.responder).report(outcome) }
        guard response == nil, let error = outcome.error else { return response }
        if case .passed = outcome.kind { return nil }
        throw error
    }

    /// A whole HTTP response, and how its request ended. The response is `nil` if the request failed or is left to the
    /// client.
    private typealias Ended = (outcome: RequestOutcome, response: (Data, HTTPURLResponse)?)

    /// Follows redirects, and returns how the last request ended.
    private func lastResponse(to request: URLRequest) async -> Ended {
        var request = request
        var last: Ended?
        var networkError: URLError?
        for _ in 0...Redirect.most {
            do throws(URLError) {
                try RequestLoad.checkCancellation()
            } catch {
                return (.failed(last?.outcome.plan, error), nil)
            }
            var ended = await wholeResponse(to: request)
            if case .passed = ended.outcome.kind, let last { return last }
            ended.outcome = ended.outcome.after(networkError)
            guard let (_, head) = ended.response,
                let next = attachment.nextRequest(
                    after: request,
                    head.statusCode,
                    head.value(forHTTPHeaderField: "Location")
                )
            else { return ended }
            if case .usedOffline(let error) = ended.outcome.kind { networkError = error }
            (request, last) = (next, ended)
        }
        return (.failed(last?.outcome.plan, URLError(.httpTooManyRedirects)), nil)
    }

    private func wholeResponse(to request: URLRequest) async -> Ended {
        let body = request.httpBodyStream == nil ? RequestFacts.Body(request) : .hidden
        let plan = attachment.decide(request, body: body)
        let (events, event) = AsyncStream.makeStream(of: RequestLoad.Event.self)
        let load = RequestLoad.start(plan, in: attachment, for: RequestLoad.Client { event.yield($0) })
        var (head, pieces) = (URLResponse?.none, Data())
        for await event in events where !Task.isCancelled {
            switch event {
            case .head(let first, _): head = first
            case .data(let data): pieces.append(data)
            case .end(let outcome):
                guard let response = outcome.response,
                    let http = (head ?? response.response) as? HTTPURLResponse
                else { return (outcome, nil) }
                return (outcome, (head == nil ? response.data : pieces, http))
            }
        }
        load.cancel()
        return (.failed(plan, URLError(.cancelled)), nil)
    }

    /// Returns whether an entry answers a request, or may answer it once the request's body is read. Changes no counts.
    package func hasEntry(for request: URLRequest) -> Bool {
        attachment.lookUp(request, body: RequestFacts.Body(request)).hasEntry
    }
}

extension DirectLoader {
    /// The result of ``load(_:isWanted:)``.
    package final class Response: Sendable {
        package enum Body: Sendable {
            case data(Data)
            case large(ResponseBuilder.LargeFile.Part)
            case arriving(ArrivingResponse)
        }

        package let kind: RequestOutcome.Kind
        /// The response's head and body, or the error.
        package let result: Result<(head: HTTPURLResponse, body: Body), URLError>
        /// How fast to send the body; `nil` to send it at once, or as it arrives.
        package let pace: Pace?

        /// Whether the response is an entry's stream. Each piece of a stream arrives when it's due.
        package var isStream: Bool {
            guard case .matched = kind, case .success((_, .arriving)) = result else { return false }
            return true
        }

        init(_ outcome: RequestOutcome) {
            kind = outcome.kind
            pace = outcome.pace
            switch outcome.result {
            case .success(let response):
                result = Self.result(response.response, outcome.largeBody.map { .large($0) } ?? .data(response.data))
            case .failure(let error):
                result = .failure(error)
            }
        }

        init(_ kind: RequestOutcome.Kind, _ head: URLResponse, _ body: Body) {
            self.kind = kind
            pace = nil
            result = Self.result(head, body)
        }

        private static func result(_ head: URLResponse, _ body: Body) -> Result<
            (head: HTTPURLResponse, body: Body), URLError
        > {
            (head as? HTTPURLResponse).map { .success(($0, body)) } ?? .failure(URLError(.badServerResponse))
        }
    }
}
