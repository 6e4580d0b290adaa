import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request under which the default cache keeps a response.
enum DefaultCacheKey {
    /// On Apple platforms the request itself. On Linux `URLCache` tells requests apart by host, port and path alone
    /// (`URLCache.swift`, `identifier(for:)`), so that `http` and `https`, or two queries, share a place, and it does not store
    /// what has a long path on disk: there it is a request whose path is a digest of the whole URL. It is short, since every
    /// byte of it costs: see the benchmark “misses”.
    static func request(for request: URLRequest) -> URLRequest {
        #if canImport(Darwin)
        return request
        #else
        guard let url = request.url else { return request }
        return URL(string: "http://h/" + Digest.base64(of: url.absoluteString)).map { URLRequest(url: $0) } ?? request
        #endif
    }
}
