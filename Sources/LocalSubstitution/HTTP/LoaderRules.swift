import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The rules by which Apple's and Linux's loaders refuse responses from a cache. The cache doesn't return a response
/// that the platform's loader would refuse.
///
/// On Linux, the rules are those of `canCache` in `HTTPURLProtocol.swift`. That function can't parse HTTP's names of
/// months, so it ignores `Date`, and treats every `Expires` as past. On Apple platforms, the package applies nearly the
/// same rules, because Apple doesn't document what its loader refuses.
package enum LoaderRules {
    /// Why the loader would refuse every cached response to the request.
    static func refusal(of request: URLRequest, _ traits: LoaderTraits) -> String? {
        if let method = request.httpMethod, method != "GET", method != "HEAD" {
            return "URLSession never uses a cached response to \(method)"
        }
        guard traits.contains(.refusesToAuthorizedRequests) else { return nil }
        return ["Authorization", "Proxy-Authorization"].first { request.value(forHTTPHeaderField: $0) != nil }
            .map(refusal(ofRequestHeader:))
    }

    /// The reason if a request has a header that makes the loader ignore caches.
    static func refusal(ofRequestHeader name: String) -> String {
        "URLSession never uses a cached response to a request with “\(name)”"
    }

    /// Why the loader would refuse a response with this status and these headers, whatever the request.
    package static func refusal(ofStatus status: Int, headers: [String: String]) -> String? {
        guard statuses.contains(status) else {
            return "URLSession never uses a cached response with the status \(status)"
        }
        guard !headers.isEmpty else { return nil }
        for name in ["Vary", "WWW-Authenticate", "Proxy-Authenticate"] where headers[header: name] != nil {
            return "URLSession never uses a cached response with the header “\(name)”"
        }
        return freshnessRefusal(headers)
    }

    /// How long, in seconds, the loader accepts a response after the response was created. `nil`, for no limit, if
    /// `Cache-Control` has no valid `max-age`.
    static func lifetime(_ headers: [String: String]) -> Double? {
        let maxAge = headers[header: "Cache-Control"].flatMap { HTTPSyntax.directives(of: $0)["max-age"] }
        return maxAge.flatMap(seconds).map(Double.init)
    }

    private static let statuses = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501]

    private static func freshnessRefusal(_ headers: [String: String]) -> String? {
        func refusal(_ directive: String) -> String { "the entry's Cache-Control says “\(directive)”" }
        // Without a `Cache-Control` of the entry, the cache adds one with a `max-age`, which overrides `Expires`.
        guard let directives = headers[header: "Cache-Control"].map(HTTPSyntax.directives) else { return nil }
        for name in ["no-store", "no-cache"] where directives[name] != nil { return refusal(name) }
        if let maxAge = directives["max-age"].flatMap(seconds) {
            return maxAge == 0 ? refusal("max-age=0") : nil
        }
        guard headers[header: "Expires"] != nil, directives["s-maxage"] == nil else { return nil }
        return "URLSession treats every “Expires” date as past, so set a max-age in “Cache-Control”"
    }

    /// Accepts digits with or without quotes, like the loader.
    private static func seconds(_ text: String) -> Int? {
        let isQuoted = text.count > 1 && text.first == "\"" && text.last == "\""
        return Int(isQuoted ? String(text.dropFirst().dropLast()) : text).flatMap { $0 < 0 ? nil : $0 }
    }
}
