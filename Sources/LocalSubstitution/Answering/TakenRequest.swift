import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that a protocol has taken.
struct TakenRequest: Sendable {
    let request: URLRequest
    /// The request's retained response, which was valid when the protocol took the request; `nil` if there was none.
    var response: RetainedResponse?
    /// The request's plan; `nil` if the request has a retained response.
    var plan: Plan?
    /// Whether the cache has left the request to the protocol.
    var isLeft = false

    /// The retained response if it's certainly still valid. The cache leaves a request to the protocol at once, while another cache
    /// may let the loader wait.
    var checkedResponse: RetainedResponse? { isLeft ? response : nil }

    /// Returns whether a request is the same as this one. Foundation's `==` ignores differences in headers, bodies and timeouts
    /// (`NSURLRequest.swift`, `isEqual`).
    func isOf(_ other: URLRequest) -> Bool {
        request == other && request.allHTTPHeaderFields == other.allHTTPHeaderFields
            && request.httpBody == other.httpBody && request.timeoutInterval == other.timeoutInterval
    }
}
