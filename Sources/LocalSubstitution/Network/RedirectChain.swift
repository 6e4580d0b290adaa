import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The redirects of one task, from its request on.
struct RedirectChain: Sendable {
    /// The requests for the targets, in order.
    private(set) var followed: [URLRequest] = []
    #if !canImport(Darwin)
    /// The `Cookie` that the request itself has, and not its session's storage.
    private var ownCookie: String?
    #endif

    init(_ request: URLRequest?, in configuration: URLSessionConfiguration) {
        #if !canImport(Darwin)
        // Linux's loader replaces a request's header where the storage has cookies for the URL.
        if let request, let own = request.value(forHTTPHeaderField: "Cookie"),
            Self.storedCookies(for: request.url, configuration) == nil
        {
            ownCookie = own
        }
        #endif
    }

    /// The request that follows a redirect, made from the one that the loader proposes.
    mutating func next(
        _ proposed: URLRequest,
        after response: HTTPURLResponse,
        in configuration: URLSessionConfiguration
    ) -> URLRequest {
        var request = proposed
        #if !canImport(Darwin)
        if let target = Self.target(of: response) { request.url = target }
        #endif
        if !Self.isSameOrigin(response.url, request.url) {
            // They were meant for another origin (RFC 9110 §15.4). Linux's loader sends them on.
            for name in RecordingRules.credentialHeaders { request.setValue(nil, forHTTPHeaderField: name) }
            #if !canImport(Darwin)
            ownCookie = nil
            #endif
        }
        #if !canImport(Darwin)
        // Linux's loader keeps the first request's, and adds none in a session with a delegate (`HTTPURLProtocol.swift`,
        // `didCompleteRedirectCallback`).
        let cookies = Self.storedCookies(for: request.url, configuration) ?? ownCookie
        request.setValue(cookies, forHTTPHeaderField: "Cookie")
        #endif
        followed.append(request)
        return request
    }

    private static func isSameOrigin(_ first: URL?, _ second: URL?) -> Bool {
        func parts(_ url: URL?) -> [String?] {
            [url?.scheme?.lowercased(), url?.host?.lowercased(), url?.port?.description]
        }
        return parts(first) == parts(second)
    }

    #if !canImport(Darwin)
    /// The URL that the `Location` names (RFC 9110 §10.2.2); `nil` if it isn't http or https.
    ///
    /// Of a relative one Linux's loader takes the path decoded, without the slash at its end, and from the host's root
    /// (`HTTPURLProtocol.swift`, `redirectRequest`).
    private static func target(of response: HTTPURLResponse) -> URL? {
        guard let location = response.value(forHTTPHeaderField: "Location"),
            let target = URL(string: location, relativeTo: response.url)?.absoluteURL,
            ["http", "https"].contains(target.scheme?.lowercased()), target.host?.isEmpty == false
        else { return nil }
        return target
    }

    private static func storedCookies(for url: URL?, _ configuration: URLSessionConfiguration) -> String? {
        guard configuration.httpShouldSetCookies, let url,
            let cookies = configuration.httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
    #endif
}
