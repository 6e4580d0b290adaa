package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The codes of `URLError` with their names in Swift. Foundation has no list of them.
package enum URLErrors {
    static func code(_ name: String) -> URLError.Code? { all.first { $0.name == name }?.code }

    static func name(_ code: URLError.Code) -> String? { all.first { $0.code == code }?.name }

    /// The code's name, or its number if it has no name.
    package static func text(_ code: URLError.Code) -> String { name(code) ?? String(code.rawValue) }

    static let all: [(name: String, code: URLError.Code)] = [
        ("unknown", .unknown),
        ("cancelled", .cancelled),
        ("badURL", .badURL),
        ("timedOut", .timedOut),
        ("unsupportedURL", .unsupportedURL),
        ("cannotFindHost", .cannotFindHost),
        ("cannotConnectToHost", .cannotConnectToHost),
        ("networkConnectionLost", .networkConnectionLost),
        ("dnsLookupFailed", .dnsLookupFailed),
        ("httpTooManyRedirects", .httpTooManyRedirects),
        ("resourceUnavailable", .resourceUnavailable),
        ("notConnectedToInternet", .notConnectedToInternet),
        ("redirectToNonExistentLocation", .redirectToNonExistentLocation),
        ("badServerResponse", .badServerResponse),
        ("userCancelledAuthentication", .userCancelledAuthentication),
        ("userAuthenticationRequired", .userAuthenticationRequired),
        ("zeroByteResource", .zeroByteResource),
        ("cannotDecodeRawData", .cannotDecodeRawData),
        ("cannotDecodeContentData", .cannotDecodeContentData),
        ("cannotParseResponse", .cannotParseResponse),
        ("appTransportSecurityRequiresSecureConnection", .appTransportSecurityRequiresSecureConnection),
        ("fileDoesNotExist", .fileDoesNotExist),
        ("fileIsDirectory", .fileIsDirectory),
        ("noPermissionsToReadFile", .noPermissionsToReadFile),
        ("dataLengthExceedsMaximum", .dataLengthExceedsMaximum),
        ("secureConnectionFailed", .secureConnectionFailed),
        ("serverCertificateHasBadDate", .serverCertificateHasBadDate),
        ("serverCertificateUntrusted", .serverCertificateUntrusted),
        ("serverCertificateHasUnknownRoot", .serverCertificateHasUnknownRoot),
        ("serverCertificateNotYetValid", .serverCertificateNotYetValid),
        ("clientCertificateRejected", .clientCertificateRejected),
        ("clientCertificateRequired", .clientCertificateRequired),
        ("cannotLoadFromNetwork", .cannotLoadFromNetwork),
        ("cannotCreateFile", .cannotCreateFile),
        ("cannotOpenFile", .cannotOpenFile),
        ("cannotCloseFile", .cannotCloseFile),
        ("cannotWriteToFile", .cannotWriteToFile),
        ("cannotRemoveFile", .cannotRemoveFile),
        ("cannotMoveFile", .cannotMoveFile),
        ("downloadDecodingFailedMidStream", .downloadDecodingFailedMidStream),
        ("downloadDecodingFailedToComplete", .downloadDecodingFailedToComplete),
        ("internationalRoamingOff", .internationalRoamingOff),
        ("callIsActive", .callIsActive),
        ("dataNotAllowed", .dataNotAllowed),
        ("requestBodyStreamExhausted", .requestBodyStreamExhausted),
        ("backgroundSessionRequiresSharedContainer", .backgroundSessionRequiresSharedContainer),
        ("backgroundSessionInUseByAnotherProcess", .backgroundSessionInUseByAnotherProcess),
        ("backgroundSessionWasDisconnected", .backgroundSessionWasDisconnected),
    ]
}

extension URLError {
    /// Whether the network, the host or the connection failed, so that a fallback may respond. A response with an HTTP
    /// error status isn't an error.
    func isOfNetwork(_ traits: LoaderTraits) -> Bool {
        switch code {
        case .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed:
            true
        case .badServerResponse, .unknown: traits.contains(.reportsBrokenConnectionsVaguely)
        default: false
        }
    }

    /// Creates the `URLError` that an error is, or that it has the domain and code of, as an `NSError` may. On Linux, a cast
    /// doesn't do the latter. `nil` for any other error.
    init?(bridging error: any Error) {
        if let error = error as? URLError {
            self = error
            return
        }
        let error = error as NSError
        // Not optional on Apple platforms.
        let known: Code? = Code(rawValue: error.code)
        guard error.domain == NSURLErrorDomain, let known else { return nil }
        self.init(known, userInfo: error.userInfo)
    }

    /// An error with its own `localizedDescription`.
    ///
    /// - Parameter url: The URL of the request that fails; `nil` if it has none.
    package static func explained(_ code: Code, _ description: String, _ url: URL?) -> URLError {
        guard let url else { return URLError(code, userInfo: [NSLocalizedDescriptionKey: description]) }
        return URLError(code, userInfo: [NSLocalizedDescriptionKey: description, NSURLErrorFailingURLErrorKey: url])
    }

    static func unreadable(_ problem: Complaint, _ url: URL?) -> URLError {
        let advice = problem == .missingFile ? " Add it, or correct its name in the map." : ""
        return .explained(.cannotOpenFile, "The entry's file \(problem)\(advice)", url)
    }
}
