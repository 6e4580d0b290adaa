#if canImport(Testing)
import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests of a test, in the order in which they began. The loader's threads add to it.
final class RequestLog: Sendable {
    private let entries = Guarded<[TestSubstitutions.Request]>([])
    private let keepsResponses: Bool

    init(keepsResponses: Bool) { self.keepsResponses = keepsResponses }

    var requests: [TestSubstitutions.Request] { entries.withLock { $0 } }

    /// Adds a request. Returns a closure to call with what happens to it.
    func begin(_ request: URLRequest) -> @Sendable (RequestListener.Progress) -> Void {
        let index = entries.withLock { entries in
            entries.append(TestSubstitutions.Request(request))
            return entries.count - 1
        }
        return { progress in
            self.entries.withLock { entries in
                switch progress {
                case .readBody(let body): entries[index].body = body
                case .ended(let outcome): entries[index].end(outcome, keepsResponse: self.keepsResponses)
                }
            }
        }
    }
}

extension TestSubstitutions.Request {
    fileprivate mutating func end(_ outcome: RequestOutcome, keepsResponse: Bool) {
        self.outcome = Outcome(outcome.kind)
        entry = outcome.entry
        error = outcome.error
        if case .unmatched(let explanation) = outcome.kind {
            self.explanation = explanation
            // The error that the code gets may be brief.
            error = .unmatched(explanation)
            isHiddenUpload = outcome.isHiddenUpload
        }
        needsOrigin = outcome.needsOrigin
        usedUp = outcome.usedUp
        if keepsResponse { response = outcome.response }
    }
}

extension TestSubstitutions.Request.Outcome {
    fileprivate init(_ kind: RequestOutcome.Kind) {
        switch kind {
        case .answered, .confirmed: self = .answered
        case .loaded: self = .loaded
        case .failed: self = .failed
        case .unmatched: self = .unmatched
        }
    }
}
#endif
