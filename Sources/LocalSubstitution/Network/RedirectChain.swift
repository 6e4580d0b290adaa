import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The redirects that one task follows.
package struct RedirectChain: Sendable {
    /// The statuses that redirect a client to another URL (RFC 9110 §15.4).
    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The requests for the targets of the redirects, in order.
    private(set) var followed: [URLRequest] = []
    #if !canImport(Darwin)
    /// The request's own `Cookie` header; `nil` if it has none, or if the session's storage supplies one.
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
        if let target = Self.target(response.value(forHTTPHeaderField: "Location"), from: response.url) {
            request.url = target
        }
        #endif
        if !Self.isSameOrigin(response.url, request.url) {
            // The request's credentials were meant for the origin that redirects (RFC 9110 §15.4), but Linux's loader
            // would send them on.
            request.removeCredentials()
            #if !canImport(Darwin)
            ownCookie = nil
            #endif
        }
        #if !canImport(Darwin)
        // In a session with a delegate, Linux's loader would send the first request's cookies, and none of the new
        // URL's (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
        let cookies = configuration.storedCookies(for: request.url) ?? ownCookie
        request.setValue(cookies, forHTTPHeaderField: "Cookie")
        #endif
        followed.append(request)
        return request
    }

    static func isSameOrigin(_ first: URL?, _ second: URL?) -> Bool {
        func parts(_ url: URL?) -> [String?] {
            [url?.scheme?.lowercased(), url?.host?.lowercased(), url?.port?.description]
        }
        return parts(first) == parts(second)
    }

    /// Returns the target of a `Location` header (RFC 9110 §10.2.2); `nil` if it isn't an http or https URL.
    ///
    /// For a relative `Location`, Linux's loader would decode the path, drop its trailing slash, and resolve it against the host's
    /// root (`HTTPURLProtocol.swift`, `redirectRequest`).
    static func target(_ location: String?, from url: URL?) -> URL? {
        guard let target = location.flatMap({ URL(string: $0, relativeTo: url) })?.absoluteURL,
            ["http", "https"].contains(target.scheme?.lowercased()), target.host?.isEmpty == false
        else { return nil }
        return target
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

extension URLRequest {
    /// Removes the headers with credentials. Call this if the request is redirected to a different origin (RFC 9110 §15.4).
    mutating func removeCredentials() {
        for name in HTTPSyntax.credentialHeaders { setValue(nil, forHTTPHeaderField: name) }
    }
}
