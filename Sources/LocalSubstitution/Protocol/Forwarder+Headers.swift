import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Accounts for the headers that a session adds to a request.
extension Forwarder {
    /// Returns a request without the cookies that Linux's loader added from the session's storage. They're added again if the
    /// request is sent to its own URL, and they aren't meant for another.
    func withoutStoredCookies(_ request: URLRequest) -> URLRequest {
        #if canImport(Darwin)
        return request
        #else
        guard let cookies = request.value(forHTTPHeaderField: "Cookie"), cookies == storedCookies(for: request.url)
        else { return request }
        var request = request
        request.setValue(nil, forHTTPHeaderField: "Cookie")
        return request
        #endif
    }

    private func storedCookies(for url: URL?) -> String? {
        configuration.withLock { $0.storedCookies(for: url) }
    }

    private var additionalHeaders: [(name: String, value: String)] {
        configuration.withLock { $0.httpAdditionalHeaders ?? [:] }.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
    }

    /// Returns whether the session would add one of several headers to a request for a URL.
    func adds(_ names: [String], to url: URL?) -> Bool {
        let names = names.map { $0.lowercased() }
        guard !names.isEmpty else { return false }
        return additionalHeaders.contains { names.contains($0.name.lowercased()) }
            || (names.contains("cookie") && storedCookies(for: url) != nil)
    }

    /// Returns a request with the headers that the session would add, except some.
    func complete(_ request: URLRequest, but names: [String]) -> URLRequest {
        let names = names.map { $0.lowercased() }
        var request = request
        let added =
            additionalHeaders
            + [("Cookie", storedCookies(for: request.url))].compactMap { name, value in
                value.map { (name, $0) }
            }
        for (name, value) in added
        where !names.contains(name.lowercased()) && request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}
