package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Loads requests as an attached session does, for a client that isn't a URLSession. The caller's thread waits until the
/// response begins. Redirects are returned instead of followed. Long bodies are returned in pieces.
package final class DirectLoader: Sendable {
    private let attachment: Attachment

    init(_ attachment: Attachment) { self.attachment = attachment }

    /// Loads a request. Returns when the response begins.
    ///
    /// - Parameters:
    ///   - request: The request, with its whole body.
    ///   - isWanted: Called now and then while the call waits. If it returns `false`, the request is cancelled.
    package func load(_ request: URLRequest, isWanted: @escaping @Sendable () -> Bool) -> Response {
        let isStrict = attachment.rules.isStrict
        if let retained = attachment.responder.retainedResponse(for: request, isStrict: isStrict) {
            return Response(.answered(nil, retained))
        }
        let chain = RequestChain(attachment)
        let plan = chain.lookUp(request, body: RequestBody(request))
        if let outcome = attachment.outcomeAtOnce(plan) { return Response(outcome) }
        let arriving = ArrivingResponse(isWanted: isWanted) { [responder = attachment.responder] in
            responder.reportUnanswered(plan, since: $0.localizedDescription)
        }
        // Weak, so that a client that has left releases the response, which cancels the load.
        let client = RequestLoad.Client(
            pass: { [weak arriving] piece in arriving?.add(.piece(piece)) },
            answerChallenge: { challenge in
                // There's no outer session, so a 401 is a response like any other.
                #if canImport(Darwin)
                (challenge.sender as? ChallengeRelay)?.performDefaultHandling(for: challenge)
                #endif
            },
            end: { [weak arriving] in arriving?.add(.end($0)) }
        )
        arriving.wait(for: RequestLoad(chain, plan, for: client).start())
        switch arriving.next() {
        case .piece(.head(let head))?: return Response(.loaded, head, .arriving(arriving))
        case .end(let outcome)?: return Response(outcome)
        case .piece(.data)?, nil: return Response(.failed(plan, URLError(.cancelled)))
        }
    }

    /// Returns whether an entry answers a request, perhaps depending on its body. Counts nothing.
    package func hasEntry(for request: URLRequest) -> Bool {
        attachment.lookUp(request, body: RequestBody(request)).hasEntry
    }
}

extension DirectLoader {
    /// The result of loading.
    package struct Response: Sendable {
        package enum Body: Sendable {
            case data(Data)
            case large(LargeFile.Part)
            case arriving(ArrivingResponse)
        }

        package let kind: RequestOutcome.Kind
        /// The response's head and body, or the error.
        package let result: Result<(head: HTTPURLResponse, body: Body), URLError>

        init(_ outcome: RequestOutcome) {
            kind = outcome.kind
            switch outcome.result {
            case .success(let response):
                result = Self.result(response.response, outcome.largeBody.map { .large($0) } ?? .data(response.data))
            case .failure(let error):
                result = .failure(error)
            }
        }

        init(_ kind: RequestOutcome.Kind, _ head: URLResponse, _ body: Body) {
            self.kind = kind
            result = Self.result(head, body)
        }

        private static func result(_ head: URLResponse, _ body: Body) -> Result<
            (head: HTTPURLResponse, body: Body), URLError
        > {
            (head as? HTTPURLResponse).map { .success(($0, body)) } ?? .failure(URLError(.badServerResponse))
        }
    }
}
