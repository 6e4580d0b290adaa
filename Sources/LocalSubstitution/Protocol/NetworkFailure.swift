import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Errors that mean that the network, the host or the connection isn't available. An HTTP error status isn't one: it's a response.
enum NetworkFailure {
    static let codes: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
            .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed,
        ]
        // Linux's loader reports these for a connection that ends before a response's head or within its body.
        #if !canImport(Darwin)
        codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()
}
