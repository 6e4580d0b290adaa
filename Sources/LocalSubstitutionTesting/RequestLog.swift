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

    /// Adds a request. Returns a closure to call when it ends.
    func begin(_ request: URLRequest) -> @Sendable (RequestOutcome) -> Void {
        let index = entries.withLock { entries in
            entries.append(TestSubstitutions.Request(request))
            return entries.count - 1
        }
        return { outcome in
            self.entries.withLock { entries in
                entries[index].outcome = TestSubstitutions.Request.Outcome(outcome.kind)
                entries[index].entry = outcome.entry
                entries[index].error = outcome.error
                entries[index].needsOrigin = outcome.needsOrigin
                entries[index].usedUp = outcome.usedUp
                if self.keepsResponses { entries[index].response = outcome.response }
            }
        }
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
