#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

#if !os(watchOS)
/// A request that a server answered, for its log.
package struct ServedRequest: Sendable {
    package enum Source: Sendable {
        case substituted
        /// A recorder's copy answered, since the network said that it's current.
        case confirmed
        case network
        /// The request failed, it was refused, or nothing answers it.
        case failed(String)
    }

    package let method: String
    /// The URL at the origin, or the request target if the origin isn't known.
    package let url: String
    package let status: Int
    package let source: Source
    /// The response before it was changed for the client; `nil` for a request that failed.
    package let response: HTTPURLResponse?
    /// The number of body bytes that were sent.
    package let bytes: Int
    package let seconds: Double
}
#endif
