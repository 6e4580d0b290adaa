import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The headers that tell a server who sent a request. Its response may be for that sender alone.
package enum CredentialHeaders {
    package static let names = ["Authorization", "Proxy-Authorization", "Cookie"]

    /// Removes these headers from a request that is redirected to a different origin (RFC 9110 §15.4).
    static func remove(from request: inout URLRequest) {
        for name in names { request.setValue(nil, forHTTPHeaderField: name) }
    }
}
