package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLRequest {
    /// The request for the target of a redirect, without what was meant for another origin (RFC 9110 §15.4): Linux's loader sends
    /// such headers on.
    package func redirected(from origin: URL?) -> URLRequest {
        func parts(_ url: URL?) -> [String?] {
            [url?.scheme?.lowercased(), url?.host?.lowercased(), url?.port?.description]
        }
        guard parts(origin) != parts(url) else { return self }
        var request = self
        for name in RecordingRules.credentialHeaders { request.setValue(nil, forHTTPHeaderField: name) }
        return request
    }
}
