import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The headers by which a server knows the sender, so that its response may be for that sender alone.
enum CredentialHeaders {
    static let names = ["Authorization", "Proxy-Authorization", "Cookie"]

    /// Removes them from a request that goes to another server than it was meant for (RFC 9110 §15.4).
    static func remove(from request: inout URLRequest) {
        for name in names { request.setValue(nil, forHTTPHeaderField: name) }
    }
}
