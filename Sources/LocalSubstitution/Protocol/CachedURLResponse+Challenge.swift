#if !canImport(Darwin)
import Foundation
import FoundationNetworking

extension CachedURLResponse {
    /// The same response, without a challenge that would keep the task from ending.
    ///
    /// Linux's loader looks for a challenge in every 401 that a protocol finishes, and waits for a credential that never arrives
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
