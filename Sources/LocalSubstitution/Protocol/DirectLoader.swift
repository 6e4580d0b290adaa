#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A loader that responds as an attached session would, but for a client that isn't a URLSession: the server, the
/// command, or code that uses another HTTP client.
package final class DirectLoader: Sendable {
    private let attachment: Attachment

    init(
        _ responder: Responder,
        _ configuration: URLSessionConfiguration,
        rules: SessionRules = .load,
        responseLimit: Int? = nil,
        for client: Attachment.Client,
        sendsCredentials: Bool = true
    ) {
        attachment = Attachment(
            of: responder,
            to: configuration,
            rules: rules,
            responseLimit: responseLimit,
            for: client,
            sendsCredentials: sendsCredentials,
            // Only a URLSession hides bodies.
            traits: responder.traits.subtracting(.hidesUploadBodies)
        )
    }

    /// Blocks the thread until the response begins. Doesn't follow redirects: returns them. The body of the response
    /// may still be arriving.
    ///
    /// - Parameters:
    ///   - request: The request, with its whole body.
    ///   - isWanted: Called every half second while this method or its response waits. If the closure returns `false`,
    ///     the request is cancelled.
    package func load(_ request: URLRequest, isWanted: @escaping @Sendable () -> Bool) -> RequestOutcome {
        var arriving: ArrivingResponse?
        let begun = begin(request) { end in
            let made = ArrivingResponse(isWanted: isWanted, end: end)
            arriving = made
            // The reference is weak: a client that has left releases the response, which then cancels the load.
            return RequestLoad.Client(end: end) { [weak made] in made?.add($0) }
        }
        switch begun {
        case .ended(let outcome): return outcome
        case .loading(let load): arriving?.wait(for: load)
        }
        guard let arriving else { return .failed(nil, URLError(.cancelled)) }
        switch arriving.next() {
        case .head(let head, let kind)?:
            let body = Response.Body.arriving { Result { () throws(URLError) in try arriving.nextBytes() } }
            return RequestOutcome(kind, nil, .success(Response(head, body)))
        case .end(let outcome)?: return outcome
        case .data?, nil: return .failed(nil, URLError(.cancelled))
        }
    }

    /// Returns the whole response; `nil` if the client must load the request itself. Follows a redirect if an entry
    /// matches its target, and otherwise returns the redirect.
    func answer(to request: URLRequest) async throws(URLError) -> (Data, HTTPURLResponse)? {
        do throws(URLError) {
            try RequestLoad.checkCancellation()
        } catch {
            let plan = attachment.lookUp(request)
            RequestEnd(of: plan, in: attachment.responder).cancel()
            throw error
        }
        let (events, event) = AsyncStream.makeStream(of: RequestLoad.Event.self)
        var end: RequestEnd?
        let begun = begin(request) {
            end = $0
            return RequestLoad.Client(end: $0) { event.yield($0) }
        }
        switch begun {
        case .ended(let outcome): return try Self.response(outcome, outcome.response?.data)
        case .loading(let load):
            if let (outcome, body) = await events.outcome() { return try Self.response(outcome, body) }
            end?.cancel()
            load.cancel()
            throw URLError(.cancelled)
        }
    }

    private static func response(
        _ outcome: RequestOutcome,
        _ body: Data?
    ) throws(URLError) -> (Data, HTTPURLResponse)? {
        switch outcome.result {
        case .success(let response): (response.head as? HTTPURLResponse).map { (body ?? Data(), $0) }
        case .failure(let error):
            switch outcome.kind {
            // In a strict test, the test's issue says that nothing matches.
            case .passed, .unmatched: nil
            default: throw error
            }
        }
    }

    private func begin(_ request: URLRequest, for client: (RequestEnd) -> RequestLoad.Client) -> RequestLoad.Begun {
        let inMemory = attachment.responder.responseInMemory(for: request)
        let tell = attachment.rules.listener?.start(request)
        return RequestLoad.begin(request, inMemory: inMemory, tell: tell, in: attachment, for: client)
    }

    /// Returns whether an entry responds to a request, or may respond once the request's body is read. Changes no
    /// counts.
    package func hasEntry(for request: URLRequest) -> Bool {
        attachment.lookUp(request).hasEntry
    }
}
