import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an entry changes in a request that is sent on.
extension Substitution {
    /// Where the request is sent instead of to its own URL.
    var target: ForwardTarget.Filled? { if case .network(let target) = content { target } else { nil } }

    func change(_ request: inout URLRequest) {
        if let target {
            request.url = target.url
            // The target's own is sent.
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        for (name, value) in requestHeaders { request.setValue(value, forHTTPHeaderField: name) }
    }
}
