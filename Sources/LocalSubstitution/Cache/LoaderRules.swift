import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the loader would not take from a cache. Handing it out all the same would cost a lookup and serve nothing.
///
/// Seen in `HTTPURLProtocol.swift`, `canCache`, on Linux, where dates are read with month names that HTTP does not have, so that
/// `Date` counts for nothing and every `Expires` is past. What Apple's loader refuses is not documented; the same is assumed.
enum LoaderRules {
    enum Refusal: Hashable, Sendable {
        case method(String)
        case requestHeader(String)
        case status(Int)
        case responseHeader(String)
        case cacheControl(String)
        case expires

        var message: String {
            switch self {
            case .method(let method): "the loader takes no \(method) response from a cache"
            case .requestHeader(let name): "the loader takes nothing from a cache for a request with “\(name)”"
            case .status(let status): "the loader takes no response with the status \(status) from a cache"
            case .responseHeader(let name): "the loader takes no response with the header “\(name)” from a cache"
            case .cacheControl(let directive): "the entry's Cache-Control says “\(directive)”"
            case .expires: "the loader takes every “Expires” date for a past one: give a max-age in “Cache-Control”"
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
            .flatMap { directives($0.value)["max-age"] ?? nil }.flatMap(seconds).map(Double.init)
    }

    /// As the loader reads them: digits, perhaps in quotes. It takes no notice of anything else.
    private static func seconds(_ text: String) -> UInt? {
        let isQuoted = text.count > 1 && text.first == "\"" && text.last == "\""
        return UInt(isQuoted ? String(text.dropFirst().dropLast()) : text)
    }

    private static let statuses: Set<Int> = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501]

    private static func freshnessRefusal(_ headers: [String: String]) -> Refusal? {
        // Without a Cache-Control of the entry, ours has a `max-age`, which outranks `Expires`.
        guard let directives = headers["cache-control"].map(directives) else { return nil }
        for name in ["no-store", "no-cache"] where directives[name] != nil { return .cacheControl(name) }
        if let maxAge = (directives["max-age"] ?? nil).flatMap(seconds) {
            return maxAge == 0 ? .cacheControl("max-age=0") : nil
        }
        return headers["expires"] != nil && directives["s-maxage"] == nil ? .expires : nil
    }

    /// Names in lowercase, and what follows each one's `=`.
    static func directives(_ header: String) -> [String: String?] {
        var found: [String: String?] = [:]
        for directive in header.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if let name = parts.first { found.updateValue(parts.dropFirst().first, forKey: name) }
        }
        return found
    }
}
