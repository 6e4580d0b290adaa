import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Errors that mean that the network, the host or the connection is not there. An HTTP error is an answer, and none of them.
enum NetworkFailure {
    static let codes: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
            .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed,
        ]
        // What Linux's loader says of a connection that ends before the head of an answer, or in the middle of its body.
        #if !canImport(Darwin)
        codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()
}
