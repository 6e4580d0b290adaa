import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLRequest {
    /// Returns the request that follows an entry's redirect; `nil` if the redirect's target isn't an http or https URL.
    func redirected(by substitution: Substitution) -> URLRequest? {
        redirected(by: substitution.status, to: substitution.headers[header: "Location"])
    }

    /// Returns the request that follows a redirect (RFC 9110 §15.4); `nil` if the redirect's target isn't an http or https URL.
    package func redirected(by status: Int, to location: String?) -> URLRequest? {
        guard let target = RedirectChain.target(location, from: url) else { return nil }
        var request = self
        request.url = target
        let method = httpMethod ?? "GET"
        let becomesGet = status == 303 ? method != "HEAD" : status < 303 && method == "POST"
        if becomesGet { request.becomeGet() }
        if !RedirectChain.isSameOrigin(url, target) { request.removeCredentials() }
        return request
    }

    /// Returns this request with the URL of a redirect's target, and with the method of the request that the loader
    /// proposes. If that method differs from this request's, the body is dropped.
    func redirected(to url: URL, as proposed: URLRequest) -> URLRequest {
        var request = self
        request.url = url
        if proposed.httpMethod != httpMethod { request.becomeGet() }
        request.httpMethod = proposed.httpMethod
        if !RedirectChain.isSameOrigin(self.url, url) { request.removeCredentials() }
        return request
    }

    private mutating func becomeGet() {
        httpMethod = "GET"
        httpBody = nil
        httpBodyStream = nil
        for name in ["Content-Type", "Content-Length", "Content-Encoding"] {
            setValue(nil, forHTTPHeaderField: name)
        }
    }
}
