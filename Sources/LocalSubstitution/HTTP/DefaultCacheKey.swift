import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request under which the default cache keeps a response.
enum DefaultCacheKey {
    /// Returns the request itself on Apple platforms; `nil` for a URL whose response isn't kept.
    ///
    /// On Linux, `URLCache` tells requests apart only by host, port and path (`URLCache.swift`, `identifier(for:)`). So `http` and
    /// `https`, or two queries, share a response. It also doesn't store a response with a long path on disk. There, the key's path
    /// is a digest of the URL's normal form, and only `http` and `https` URLs have a key. The key is short because every byte of it
    /// costs time: see the benchmark “misses”.
    ///
    /// - Parameter normalized: The request's URL in normal form; `nil` if it has none.
    static func request(for request: URLRequest, _ normalized: String?) -> URLRequest? {
        #if canImport(Darwin)
        return request
        #else
        guard let text = normalized ?? request.url.flatMap(textWithUserInfo) else { return nil }
        return URL(string: "http://h/" + Digest.base64(of: text)).map { URLRequest(url: $0) }
        #endif
    }

    #if !canImport(Darwin)
    /// Returns the text of a URL with user info, which has no normal form. Its response may differ from that of the URL without it.
    private static func textWithUserInfo(_ url: URL) -> String? {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.user != nil else {
            return nil
        }
        return String(url.absoluteString.prefix { $0 != "#" })
    }
    #endif
}
