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
            return Response(RequestOutcome(.answered, nil, .success(retained)))
        }
        let plan = attachment.decide(request, body: RequestFacts.Body(request))
        if let outcome = attachment.outcomeAtOnce(plan) { return Response(outcome) }
        let arriving = ArrivingResponse(isWanted: isWanted) { [responder = attachment.responder] in
            responder.reportUnanswered(plan, since: $0.localizedDescription)
        }
        // The reference is weak: a client that has left releases the response, which then cancels the load.
        let client = RequestLoad.Client { [weak arriving] in arriving?.add($0) }
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
        var request = request
        var known: (Data, HTTPURLResponse)?
        for _ in 0...Redirect.most {
            guard let response = try await wholeResponse(to: request) else { return known }
            known = response
            let (status, location) = (response.1.statusCode, response.1.value(forHTTPHeaderField: "Location"))
            guard let next = attachment.nextRequest(after: request, status, location) else { return response }
            request = next
        }
        throw URLError(.httpTooManyRedirects)
    }

    private func wholeResponse(to request: URLRequest) async throws(URLError) -> (Data, HTTPURLResponse)? {
        let body = request.httpBodyStream == nil ? RequestFacts.Body(request) : .hidden
        try RequestLoad.checkCancellation()
        let plan = attachment.decide(request, body: body)
        let (events, event) = AsyncStream.makeStream(of: RequestLoad.Event.self)
        let load = RequestLoad.start(plan, in: attachment, for: RequestLoad.Client { event.yield($0) })
        var (head, pieces) = (URLResponse?.none, Data())
        for await event in events where !Task.isCancelled {
            switch event {
            case .head(let first, _): head = first
            case .data(let data): pieces.append(data)
            case .end(let outcome):
                if case .passed = outcome.kind { return nil }
                let response = try outcome.result.get()
                guard let http = (head ?? response.response) as? HTTPURLResponse else { return nil }
                return (head == nil ? response.data : pieces, http)
            }
        }
        load.cancel()
        throw URLError(.cancelled)
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
            guard case .answered = kind, case .success((_, .arriving)) = result else { return false }
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
