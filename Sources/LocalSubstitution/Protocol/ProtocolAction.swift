import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the protocol does about a request.
enum ProtocolAction: Sendable {
    case answer(Lookup, Substitution)
    /// Ask the network, and answer if it fails.
    case forward(Lookup, Substitution, Forwarder)
    case fail(Explanation)
}

extension LocalSubstitutionCache {
    /// What a protocol does about a request; `nil` if it has nothing to do.
    func action(for request: URLRequest, by type: SubstitutionURLProtocol.Type) -> ProtocolAction? {
        guard !request.isForwarded else { return nil }
        let attachment = attachment(of: type)
        let lookup = prepare(request)
        guard let substitution = lookup.decision.match?.substitution,
            substitution.lists(method: request.httpMethod ?? "GET")
        else { return attachment.unmatched == .fail ? failure(lookup) : nil }
        guard substitution.use == .whenOffline, attachment.unmatched == .load else {
            return .answer(lookup, substitution)
        }
        return request.showsItsBody ? .forward(lookup, substitution, attachment.forwarder) : nil
    }

    private func failure(_ lookup: Lookup) -> ProtocolAction? {
        guard let scheme = lookup.request.url?.scheme?.lowercased(), Self.networkSchemes.contains(scheme) else {
            return nil
        }
        return .fail(Explanation(lookup.request, lookup.decision, lookup.map))
    }

    /// What would reach the network; `data` and `file` would not.
    private static let networkSchemes: Set<String> = ["http", "https", "ws", "wss", "ftp"]
}

extension URLRequest {
    /// Whether what a protocol sees of the request is all of it. Foundation hides the body of an upload task on Linux.
    fileprivate var showsItsBody: Bool {
        httpBody != nil || httpBodyStream != nil
            || ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
    }

    /// Whether a forwarder has sent it: then no protocol of ours takes it again, whatever session it came to.
    fileprivate var isForwarded: Bool { URLProtocol.property(forKey: Self.forwardedKey, in: self) != nil }

    /// The same request, to be sent on.
    var forwarded: URLRequest {
        guard let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return self }
        URLProtocol.setProperty(true, forKey: Self.forwardedKey, in: request)
        return request as URLRequest
    }

    private static let forwardedKey = "LocalSubstitution.forwarded"
}
