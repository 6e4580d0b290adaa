#if canImport(Darwin)
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes the outer session's answer to a challenge on to the session that received it.
final class ChallengeRelay: NSObject, URLAuthenticationChallengeSender, Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// The closure for the answer; `nil` once it was called, since a session accepts only one answer.
    private let answer: Guarded<Answer?>

    init(_ answer: @escaping Answer) { self.answer = Guarded(answer) }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        give(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { give(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { give(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { give(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        give(.rejectProtectionSpace, nil)
    }

    private func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        answer.withLock { $0.take() }?(disposition, credential)
    }
}
#endif
