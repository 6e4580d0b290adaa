import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// What becomes of authentication challenges. No credential is known here and nothing is trusted that the system does not trust.

#if canImport(Darwin)
/// Hands what the outer session says to a challenge on to the session that was challenged.
final class ChallengeRelay: NSObject, URLAuthenticationChallengeSender, Sendable {
    typealias Answer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// `nil` once it was given: a session wants one answer.
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
#else
extension CachedURLResponse {
    /// The same response, but for a challenge that would keep a task from ever ending.
    ///
    /// Linux's loader looks for one in every 401 that a protocol finishes, and waits for a credential that nobody gives
    /// (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`). It knows `Basic` and `Digest`.
    var withoutChallenge: CachedURLResponse {
        guard let http = response as? HTTPURLResponse, http.statusCode == 401, let url = http.url,
            let challenge = http.value(forHTTPHeaderField: "WWW-Authenticate")?.lowercased(),
            challenge.contains("basic") || challenge.contains("digest")
        else { return self }
        let headers = (http.allHeaderFields as? [String: String] ?? [:]).filter {
            $0.key.lowercased() != "www-authenticate"
        }
        let answer = HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: headers)
        return answer.map { CachedURLResponse(response: $0, data: data, userInfo: nil, storagePolicy: storagePolicy) }
            ?? self
    }
}
#endif
