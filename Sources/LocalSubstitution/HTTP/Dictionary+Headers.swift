import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Header fields by name. Names are compared without regard to case (RFC 9110 §5.1).
extension Dictionary where Key == String, Value == String {
    /// The value of a header, however its name is spelled. Setting it replaces the header in every spelling.
    package subscript(header name: String) -> String? {
        get { self[name] ?? first { $0.key.isSameHeader(as: name) }?.value }
        set {
            for key in keys where key.isSameHeader(as: name) { self[key] = nil }
            self[name] = newValue
        }
    }
}

extension String {
    /// Returns whether two names are those of the same header.
    package func isSameHeader(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension [String] {
    /// The headers that tell a server who sent a request. Its response may be for that sender alone.
    package static let credentialHeaders = ["Authorization", "Proxy-Authorization", "Cookie"]
}

extension URLRequest {
    /// Removes the credentials, since the request is redirected to a different origin (RFC 9110 §15.4).
    mutating func removeCredentials() {
        for name in [String].credentialHeaders { setValue(nil, forHTTPHeaderField: name) }
    }
}
