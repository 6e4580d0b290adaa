#if canImport(Darwin)
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The sender of a challenge that the forwarding session has received. It passes the answer of the client's session on
/// to the forwarding session.
final class ChallengeRelay: NSObject, URLAuthenticationChallengeSender, Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// Receives the answer; `nil` after the first answer, since a session accepts only one.
    private let answer: Guarded<Answer?>

    init(_ answer: @escaping Answer) { self.answer = Guarded(answer) }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        respond(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { respond(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { respond(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { respond(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        respond(.rejectProtectionSpace, nil)
    }

    private func respond(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        answer.withLock { $0.take() }?(disposition, credential)
    }
}
#endif
