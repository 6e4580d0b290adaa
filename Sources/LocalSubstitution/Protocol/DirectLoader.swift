import Dispatch
import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Loads requests as an attached session does, for a client that isn't a URLSession. It works on the caller's thread, and returns
/// redirects instead of following them. Long bodies are returned in pieces.
package final class DirectLoader: Sendable {
    private let attachment: Attachment
    private let sendsCredentials: Bool

    /// - Parameter sendsCredentials: Whether a request's `Authorization` is sent on to the network.
    init(_ attachment: Attachment, sendsCredentials: Bool) {
        self.attachment = attachment
        self.sendsCredentials = sendsCredentials
    }

    /// Loads a request. Returns when the response begins.
    ///
    /// - Parameters:
    ///   - request: The request, with its whole body.
    ///   - isWanted: Called now and then while the call waits. If it returns `false`, the request is cancelled.
    package func load(_ request: URLRequest, isWanted: @escaping @Sendable () -> Bool) -> DirectResponse {
        let isStrict = attachment.unmatched.isStrict
        if let retained = attachment.responder.retainedResponse(for: request, isStrict: isStrict) {
            return DirectResponse(.answered(nil, retained))
        }
        let start = DispatchTime.now()
        let chain = RequestChain(attachment)
        let plan = chain.lookUp(request, body: RequestBody(request))
        var step = chain.step(for: attachment.actionToTake(plan))
        while true {
            switch step {
            case .deliver(let outcome):
                return DirectResponse(outcome)
            case .goOn(let next):
                step = next()
            case .wait(let seconds, let next):
                guard Self.wait(until: start + seconds, while: isWanted) else {
                    attachment.responder.reportUnanswered(plan, since: "the client disconnected")
                    return DirectResponse(.failed(plan, URLError(.cancelled)))
                }
                step = next()
            case .readBody(let request, let next):
                step = next(request, RequestBody(request))
            case .forward(let forwarded):
                let arriving = ArrivingResponse(forwarded, isWanted: isWanted)
                send(forwarded, to: arriving)
                switch arriving.next() {
                case .head(let head)?: return DirectResponse(.loaded, head, .arriving(arriving))
                case .end(let outcome)?: step = forwarded.step(after: outcome)
                case .data?, nil: return DirectResponse(.failed(plan, URLError(.cancelled)))
                }
            }
        }
    }

    /// Returns whether an entry answers a request, perhaps depending on its body. Counts nothing.
    package func hasEntry(for request: URLRequest) -> Bool {
        if case .nothing = attachment.lookUp(request, body: RequestBody(request)).outcome {
            false
        } else {
            true
        }
    }

    private static func wait(until time: DispatchTime, while isWanted: () -> Bool) -> Bool {
        let never = DispatchSemaphore(value: 0)
        while DispatchTime.now() < time {
            _ = never.wait(timeout: min(time, .now() + ArrivingResponse.secondsBetweenQuestions))
            guard isWanted() else { return false }
        }
        return true
    }

    private func send(_ forwarded: ForwardedRequest, to arriving: ArrivingResponse) {
        var request = forwarded.request
        if !sendsCredentials, !forwarded.fixedHeaders.contains(where: { $0.isSameHeader(as: "Authorization") }) {
            request.setValue(nil, forHTTPHeaderField: "Authorization")
        }
        let owner = Forwarding.Owner(
            answerHop: { forwarded.answer(toRedirect: $0) },
            askOuterSession: { challenge in
                // There's no outer session, so a 401 is a response like any other.
                #if canImport(Darwin)
                (challenge.sender as? ChallengeRelay)?.performDefaultHandling(for: challenge)
                #endif
            },
            // Weak, so that a client that has left releases the response, which cancels it.
            pass: { [weak arriving] piece in
                switch forwarded.changed(piece) {
                case .head(let head): arriving?.add(.head(head))
                case .data(let data): arriving?.add(.data(data))
                }
            },
            passesAtOnce: !forwarded.hasFallback,
            complete: { [weak arriving] in arriving?.add(.end($0)) }
        )
        let forwarding = attachment.forwarder.load(
            request,
            timeout: forwarded.timeout,
            priority: nil,
            fixedHeaders: forwarded.fixedHeaders,
            for: owner
        )
        arriving.begin(forwarding)
    }
}
