import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Marks the requests that the package itself sends. On Apple platforms, registered protocols are asked about these requests too,
/// and must not take them. Linux loses the mark on the way, so there the package makes its own sessions without the protocol.
extension URLRequest {
    #if canImport(Darwin)
    private static let ownKey = "LocalSubstitution.isOwn"

    var isOwn: Bool { URLProtocol.property(forKey: Self.ownKey, in: self) != nil }

    /// The request, marked as the package's own.
    var own: URLRequest {
        guard let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return self }
        URLProtocol.setProperty(true, forKey: Self.ownKey, in: request)
        return request as URLRequest
    }
    #else
    var isOwn: Bool { false }
    var own: URLRequest { self }
    #endif
}
