import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The redirects that one task follows.
package struct RedirectChain: Sendable {
    /// The requests for the targets of the redirects, in order.
    private(set) var followed: [URLRequest] = []
    #if !canImport(Darwin)
    /// The request's own `Cookie` header; `nil` if it has none, if the session's storage supplies one, or once a
    /// redirect has led to another origin.
    private var ownCookie: String?
    #endif

    init(_ request: URLRequest?, in configuration: URLSessionConfiguration) {
        #if !canImport(Darwin)
        // Linux's loader replaces the request's `Cookie` header if the storage has cookies for the URL.
        if let request, let own = request.value(forHTTPHeaderField: "Cookie"),
            configuration.storedCookies(for: request.url) == nil
        {
            ownCookie = own
        }
        #endif
    }

    /// Returns the request that follows a redirect, and adds it to ``followed``.
    ///
    /// - Parameter proposed: The request that the loader would send.
    mutating func next(
        _ proposed: URLRequest,
        after response: HTTPURLResponse,
        in configuration: URLSessionConfiguration
    ) -> URLRequest {
        var request = proposed
        #if !canImport(Darwin)
        if let target = Redirect.target(response.value(forHTTPHeaderField: "Location"), from: response.url) {
            request.url = target
        }
        #endif
        // The request's credentials were meant for the origin that redirects, but Linux's loader would send them on.
        request.removeCredentials(after: response.url)
        #if !canImport(Darwin)
        if !Redirect.isSameOrigin(response.url, request.url) { ownCookie = nil }
        // In a session with a delegate, Linux's loader would send the first request's cookies, and none of the new
        // URL's (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
        let cookies = configuration.storedCookies(for: request.url) ?? ownCookie
        request.setValue(cookies, forHTTPHeaderField: "Cookie")
        #endif
        followed.append(request)
        return request
    }
}

extension URLSessionConfiguration {
    /// Returns the `Cookie` header that a session adds to a request for a URL; `nil` if it adds none.
    func storedCookies(for url: URL?) -> String? {
        guard httpShouldSetCookies, let url, let cookies = httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
}
