import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the loader would not take from a cache. Handing it out all the same would cost a lookup and serve nothing.
///
/// Seen in `HTTPURLProtocol.swift`, `canCache`, on Linux. What Apple's loader refuses is not documented; the same is assumed.
enum LoaderRules {
    enum Refusal: Hashable, Sendable {
        case method(String)
        case requestHeader(String)
        case status(Int)
        case responseHeader(String)
        case cacheControl(String)
        case expired(header: String)

        var message: String {
            switch self {
            case .method(let method): "the loader takes no \(method) response from a cache"
            case .requestHeader(let name): "the loader takes nothing from a cache for a request with “\(name)”"
            case .status(let status): "the loader takes no response with the status \(status) from a cache"
            case .responseHeader(let name): "the loader takes no response with the header “\(name)” from a cache"
            case .cacheControl(let directive): "the entry's Cache-Control says “\(directive)”"
            case .expired(let header): "the entry's \(header) makes the response expire at once"
            }
        }
    }

    /// Why the loader would refuse the response of a substitution to a request; `nil` if it would take it.
    static func refusal(of substitution: Substitution, for request: URLRequest) -> Refusal? {
        if let method = request.httpMethod, method != "GET", method != "HEAD" { return .method(method) }
        // Apple's loader is not known to refuse these.
        #if !canImport(Darwin)
        for name in ["Authorization", "Proxy-Authorization"] where request.value(forHTTPHeaderField: name) != nil {
            return .requestHeader(name)
        }
        #endif
        return refusal(of: substitution)
    }

    /// Why the loader would refuse it whatever the request.
    static func refusal(of substitution: Substitution) -> Refusal? {
        guard statuses.contains(substitution.status) else { return .status(substitution.status) }
        guard !substitution.headers.isEmpty else { return nil }
        let headers = Dictionary(
            substitution.headers.map { ($0.lowercased(), $1) },
            uniquingKeysWith: { first, _ in first }
        )
        for name in ["Vary", "WWW-Authenticate", "Proxy-Authenticate"] where headers[name.lowercased()] != nil {
            return .responseHeader(name)
        }
        return freshnessRefusal(headers)
    }

    /// For how many seconds after it is built the loader takes a response, where an entry's `Cache-Control` sets a limit.
    static func lifetime(of substitution: Substitution) -> Double? {
        substitution.headers.first { $0.key.lowercased() == "cache-control" }
            .flatMap { directives($0.value)["max-age"] ?? nil }.flatMap(Double.init)
    }

    private static let statuses: Set<Int> = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501]

    private static func freshnessRefusal(_ headers: [String: String]) -> Refusal? {
        let now = Date()
        let directives = headers["cache-control"].map(directives)
        if let directives {
            for name in ["no-store", "no-cache"] where directives[name] != nil { return .cacheControl(name) }
        }
        // Without a Cache-Control of the entry, ours has a `max-age`, which outranks `Expires`.
        let maxAge = directives == nil ? 31_536_000 : directives?["max-age"].flatMap { $0 }.flatMap(Double.init)
        let built = min(headers["date"].flatMap(HTTPDate.date) ?? now, now)
        if let maxAge {
            return now >= built + maxAge ? .expired(header: headers["date"] == nil ? "Cache-Control" : "Date") : nil
        }
        guard directives?["s-maxage"] == nil, let expires = headers["expires"] else { return nil }
        return HTTPDate.date(expires).map { now < $0 } == true ? nil : .expired(header: "Expires")
    }

    /// Names in lowercase, and what follows each one's `=`.
    private static func directives(_ header: String) -> [String: String?] {
        var found: [String: String?] = [:]
        for directive in header.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if let name = parts.first { found.updateValue(parts.dropFirst().first, forKey: name) }
        }
        return found
    }
}
