import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The changes that an entry makes to a request that is sent on.
extension Substitution {
    /// The URL that the request is sent to instead of its own; `nil` if it goes to its own.
    var target: ForwardTarget.Filled? { if case .network(let target) = content { target } else { nil } }

    func change(_ request: inout URLRequest) {
        if let target {
            request.url = target.url
            // The target's host is sent instead.
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        for (name, value) in requestHeaders { request.setValue(value, forHTTPHeaderField: name) }
    }
}
