import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// Returns the `Cookie` header that a session adds to a request for a URL; `nil` if it adds none.
    func storedCookies(for url: URL?) -> String? {
        guard httpShouldSetCookies, let url, let cookies = httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
}
