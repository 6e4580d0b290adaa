import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a loader doesn't take from a cache. Returning it anyway would cost a lookup and serve nothing.
///
/// Seen in `HTTPURLProtocol.swift`, `canCache`, on Linux, where dates are read with month names that HTTP doesn't have, so that
/// `Date` is ignored and every `Expires` is in the past. Apple doesn't document what its loader refuses; the same is assumed.
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

    /// Why the loader would take no response to a request from a cache; `nil` if it would.
    static func refusal(of request: URLRequest) -> Refusal? {
        if let method = request.httpMethod, method != "GET", method != "HEAD" { return .method(method) }
        // Apple's loader isn't known to refuse these.
        #if !canImport(Darwin)
        for name in ["Authorization", "Proxy-Authorization"] where request.value(forHTTPHeaderField: name) != nil {
            return .requestHeader(name)
        }
        #endif
        return nil
    }

    /// Why the loader would refuse a response whatever the request; `nil` if it would take it.
    static func refusal(ofStatus status: Int, headers: [String: String]) -> Refusal? {
        guard statuses.contains(status) else { return .status(status) }
        guard !headers.isEmpty else { return nil }
        for name in ["Vary", "WWW-Authenticate", "Proxy-Authenticate"] where headers[header: name] != nil {
            return .responseHeader(name)
        }
        return freshnessRefusal(headers)
    }

    /// For how many seconds after it is built the loader takes a response, where its `Cache-Control` sets a limit.
    static func lifetime(_ headers: [String: String]) -> Double? {
        headers[header: "Cache-Control"].flatMap { directives($0)["max-age"] ?? nil }.flatMap(seconds).map(Double.init)
    }

    /// The directives of a `Cache-Control` header: names in lowercase, and what follows each one's `=`.
    static func directives(_ header: String) -> [String: String?] {
        var found: [String: String?] = [:]
        for directive in header.lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if let name = parts.first { found.updateValue(parts.dropFirst().first, forKey: name) }
        }
        return found
    }

    private static let statuses: Set<Int> = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501]

    private static func freshnessRefusal(_ headers: [String: String]) -> Refusal? {
        // Without a Cache-Control of the entry, ours has a `max-age`, which outranks `Expires`.
        guard let directives = headers[header: "Cache-Control"].map(directives) else { return nil }
        for name in ["no-store", "no-cache"] where directives[name] != nil { return .cacheControl(name) }
        if let maxAge = (directives["max-age"] ?? nil).flatMap(seconds) {
            return maxAge == 0 ? .cacheControl("max-age=0") : nil
        }
        return headers[header: "Expires"] != nil && directives["s-maxage"] == nil ? .expires : nil
    }

    /// As the loader reads them: digits, perhaps in quotes. It ignores anything else.
    private static func seconds(_ text: String) -> UInt? {
        let isQuoted = text.count > 1 && text.first == "\"" && text.last == "\""
        return UInt(isQuoted ? String(text.dropFirst().dropLast()) : text)
    }
}

extension URLRequest {
    /// Whether the cache policy says that nothing stored locally may answer. Linux's loader asks a cache anyway.
    var ignoresLocalData: Bool { cachePolicy.ignoresLocalData }
}

extension URLRequest.CachePolicy {
    var ignoresLocalData: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        default: false
        }
    }
}
