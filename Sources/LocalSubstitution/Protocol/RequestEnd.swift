import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The end of a request that a session or the server handles with the map. Whatever ends it, its end is reported once: as an
/// event, which is counted, and to the session's listener.
final class RequestEnd: Sendable {
    private let responder: Responder
    /// What was decided about the client's own request.
    private let plan: Plan
    private let isHiddenUpload: Bool
    private let tell: (@Sendable (SessionRules.Listener.Progress) -> Void)?
    private let isReported = Guarded(false)

    /// - Parameters:
    ///   - isHiddenUpload: Whether the request is an upload task's, whose body Foundation hides; `false` by default.
    ///   - tell: Tells the session's listener how the request ended; `nil`, the default, without a listener.
    init(
        of plan: Plan,
        isHiddenUpload: Bool = false,
        in responder: Responder,
        tell: (@Sendable (SessionRules.Listener.Progress) -> Void)? = nil
    ) {
        (self.plan, self.isHiddenUpload, self.responder, self.tell) = (plan, isHiddenUpload, responder, tell)
    }

    /// Reports the outcome, unless the end was reported before. In any case, a recorder records the response that
    /// arrived.
    func report(_ outcome: RequestOutcome) {
        if isFirst() {
            responder.report(outcome, of: outcome.plan ?? plan)
            tell?(.ended(outcome, isHiddenUpload: isHiddenUpload))
        }
        outcome.then?()
    }

    /// Reports that the client cancelled the request. Has no effect if the end was reported before.
    func cancel() {
        guard isFirst() else { return }
        responder.report(.failed(plan, URLError(.cancelled)), of: plan)
        tell?(.cancelled)
    }

    private func isFirst() -> Bool {
        isReported.withLock { isReported in
            defer { isReported = true }
            return !isReported
        }
    }
}
