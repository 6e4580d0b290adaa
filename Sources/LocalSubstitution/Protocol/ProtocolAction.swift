import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the protocol does about a request.
enum ProtocolAction: Sendable {
    /// The entry's file answers.
    case answer(Lookup, Substitution)
    /// Ask the network, and answer if it fails.
    case forward(Lookup, Standby, Forwarder)
    /// The recorder's copy answers, or nothing does.
    case replay(Lookup, SubstitutionRecorder)
    case fail(Lookup)

    var lookup: Lookup {
        switch self {
        case .answer(let lookup, _), .forward(let lookup, _, _), .replay(let lookup, _), .fail(let lookup): lookup
        }
    }
}

/// What stands by for the network to fail.
enum Standby: Sendable {
    case file(Substitution)
    case recorder(SubstitutionRecorder)
}

extension LocalSubstitutionCache {
    /// What a protocol does about a request; `nil` if it has nothing to do.
    func action(for request: URLRequest, by type: SubstitutionURLProtocol.Type) -> ProtocolAction? {
        let attachment = attachment(of: type)
        let isStrict = attachment.unmatched == .fail
        let lookup = prepare(request)
        guard let substitution = lookup.decision.applying else {
            if lookup.decision.verdict != .excluded, let recorder = type.recorder, recorder.takes(request) {
                return isStrict
                    ? .replay(lookup, recorder) : .forward(lookup, .recorder(recorder), attachment.forwarder)
            }
            return isStrict && request.reachesNetwork ? .fail(lookup) : nil
        }
        guard substitution.use == .whenOffline, !isStrict else { return .answer(lookup, substitution) }
        return request.showsItsBody ? .forward(lookup, .file(substitution), attachment.forwarder) : nil
    }
}

extension URLRequest {
    /// Whether what a protocol sees of the request is all of it. Foundation hides the body of an upload task on Linux.
    fileprivate var showsItsBody: Bool {
        httpBody != nil || httpBodyStream != nil
            || ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
    }

    /// Whether loading it would: `data` and `file` would not.
    fileprivate var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
