import HTTPSyntax

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The rules for redirects (RFC 9110 §15.4): which responses redirect, where to, and which of its headers and body the
/// next request has.
package enum Redirect {
    /// The statuses that redirect a client (RFC 9110 §15.4).
    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The maximum number of redirects to follow, as in browsers.
    package static let most = 20

    /// The target of a `Location` header (RFC 9110 §10.2.2); `nil` if it isn't an http or https URL.
    ///
    /// A relative `Location` is resolved against `url`. Linux's loader doesn't do that: it decodes the path, drops its
    /// trailing slash, and resolves it against the host's root (`HTTPURLProtocol.swift`, `redirectRequest`).
    static func target(_ location: String?, from url: URL?) -> URL? {
        guard let target = location.flatMap({ URL(string: $0, relativeTo: url) })?.absoluteURL,
            ["http", "https"].contains(target.scheme?.lowercased()), target.host?.isEmpty == false
        else { return nil }
        return target
    }

    static func isSameOrigin(_ first: URL?, _ second: URL?) -> Bool {
        func parts(_ url: URL?) -> [String?] {
            [url?.scheme?.lowercased(), url?.host?.lowercased(), url?.port?.description]
        }
        return parts(first) == parts(second)
    }
}

extension URLRequest {
    /// `nil` if the redirect's target isn't an http or https URL.
    package func redirected(by status: Int, to location: String?) -> URLRequest? {
        guard let target = Redirect.target(location, from: url) else { return nil }
        var request = self
        request.url = target
        let method = httpMethod ?? "GET"
        let becomesGet = status == 303 ? method != "HEAD" : status < 303 && method == "POST"
        if becomesGet { request.becomeGet() }
        request.removeCredentials(after: url)
        return request
    }

    /// `nil` if the response isn't a redirect to an http or https URL.
    func redirected(by response: URLResponse?) -> URLRequest? {
        guard let http = response as? HTTPURLResponse, Redirect.statuses.contains(http.statusCode) else { return nil }
        return redirected(by: http.statusCode, to: http.value(forHTTPHeaderField: "Location"))
    }

    /// The request has the method that the loader proposes. If that method differs from this request's, the body is
    /// dropped.
    func redirected(to target: URL, as proposed: URLRequest) -> URLRequest {
        var request = self
        request.url = target
        if proposed.httpMethod != httpMethod { request.becomeGet() }
        request.httpMethod = proposed.httpMethod
        request.removeCredentials(after: url)
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

    /// Removes the headers with credentials if `former`, the URL that redirected to this request's URL, has another
    /// origin. The credentials were meant only for that origin.
    mutating func removeCredentials(after former: URL?) {
        guard !Redirect.isSameOrigin(former, url) else { return }
        for name in HTTPSyntax.credentialHeaders { setValue(nil, forHTTPHeaderField: name) }
    }
}
