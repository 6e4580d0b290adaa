import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests that the package itself sends. On Apple platforms a registered protocol is asked about them too, and must not take
/// them. On Linux, where properties are lost on the way, the package's own sessions are made without the protocol.
extension URLRequest {
    #if canImport(Darwin)
    private static let ownKey = "LocalSubstitution.isOwn"

    var isOwn: Bool { URLProtocol.property(forKey: Self.ownKey, in: self) != nil }

    /// The same request, marked as the package's.
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
