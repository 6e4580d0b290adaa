import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests of one attempt to load: the task's own, and those that redirects lead to.
///
/// Each request is decided once. If the task is suspended and resumed, the next attempt keeps the decisions of the stopped one.
final class RequestChain: Sendable {
    private struct State: Sendable {
        /// The decisions so far, in order.
        var plans: [Plan] = []
        /// The number of decisions that this attempt has reached.
        var position = 0
        var redirects = 0
        /// Whether a later attempt has taken over the decisions, so this one counts nothing more.
        var isSuperseded = false
    }

    /// The task's body, if it had to be read from a stream. All attempts share it, since a stream can be read only once.
    private final class ReadBody: Sendable {
        let value = Guarded<BodyReader.Body?>(nil)
    }

    let attachment: Attachment
    private let state: Guarded<State>
    private let readBody: ReadBody

    /// The number of redirects that browsers follow.
    private static let mostRedirects = 20

    /// Creates the chain of an attempt.
    ///
    /// - Parameter earlier: The chain of the attempt that was stopped, if there was one.
    init(_ attachment: Attachment, after earlier: RequestChain? = nil) {
        self.attachment = attachment
        readBody = earlier?.readBody ?? ReadBody()
        let plans = earlier?.state.withLock { state in
            state.isSuperseded = true
            return state.plans
        }
        state = Guarded(State(plans: plans ?? []))
    }

    /// Whether a later attempt has taken over. Then nothing of this one is delivered, so check this before reporting an answer.
    var isSuperseded: Bool { state.withLock { $0.isSuperseded } }

    /// The task's body, if it had to be read from a stream.
    var body: BodyReader.Body? {
        get { readBody.value.withLock { $0 } }
        set { readBody.value.withLock { $0 = newValue } }
    }

    /// Notes that a redirect is followed. Returns `false` if there were too many.
    func follow() -> Bool {
        state.withLock { state in
            state.redirects += 1
            return state.redirects <= Self.mostRedirects
        }
    }

    /// Decides about a request that is answered now, and counts the answer if its alternative has a limit.
    ///
    /// - Parameters:
    ///   - body: The request's body, as far as it's known.
    ///   - taken: What was planned when a protocol took the request. The protocol may belong to another session.
    func lookUp(_ request: URLRequest, body: RequestBody, _ taken: Plan? = nil) -> Plan {
        if let known = state.withLock({ known(for: request, &$0) }) { return known }
        let responder = attachment.responder
        // Not under the lock, for which the loader's queue may wait: a condition may read a long body.
        var plan = taken.flatMap { $0.rules === attachment.rules ? $0 : nil } ?? attachment.lookUp(request, body: body)
        while true {
            // Counted and kept under one lock, so that an attempt that takes over finds every answer that was counted.
            let isFirst = state.withLock { state -> Bool? in
                guard !state.isSuperseded else { return false }
                guard responder.count(plan) else { return nil }
                let isSecond = state.position > 0 && state.plans[state.position - 1].request.url == request.url
                state.plans.append(plan)
                state.position += 1
                return !isSecond
            }
            if let isFirst {
                // Reported once, even if the decision had to wait for the request's body.
                if isFirst { responder.reportGoneFiles(plan) }
                return plan
            }
            plan = attachment.lookUp(request, body: body)
        }
    }

    /// Returns what an earlier attempt has decided, if the map is still the same.
    private func known(for request: URLRequest, _ state: inout State) -> Plan? {
        guard state.position < state.plans.count else { return nil }
        let known = state.plans[state.position]
        guard known.map.storage === attachment.responder.maps.map.storage, known.rules === attachment.rules,
            known.request.url == request.url,
            known.request.httpMethod == request.httpMethod,
            // A count that was taken back, since the file couldn't be read, isn't there to be inherited.
            known.match?.count == nil || known.isCounted.withLock({ $0 })
        else {
            state.plans.removeSubrange(state.position...)
            return nil
        }
        state.position += 1
        return known
    }
}
