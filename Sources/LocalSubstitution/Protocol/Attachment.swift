import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What one attaching has said: which map answers the requests of a session, what becomes of the others, and who records.
final class Attachment: Sendable {
    let responder: Responder
    let recorder: SubstitutionRecorder?
    let forwarder: Forwarder
    let unmatched: UnmatchedRule
    /// Whether pieces of a response are passed on before the rest: as they arrive if there's no fallback, otherwise once there
    /// are more bytes than may be held.
    let streams: Bool

    /// - Parameters:
    ///   - configuration: What is forwarded goes out as this one says.
    ///   - responseLimit: The most bytes that are held of a response from the network; `nil` for what suits the platform.
    init(
        of responder: Responder,
        to configuration: URLSessionConfiguration,
        unmatched: UnmatchedRule,
        recorder: SubstitutionRecorder?,
        streams: Bool = Attachment.canStream,
        responseLimit: Int? = nil
    ) {
        self.responder = responder
        self.unmatched = unmatched
        self.recorder = recorder
        self.streams = streams
        forwarder = Forwarder(configuration, responseLimit: responseLimit)
    }

    /// Not on Linux, where a completion handler gets the last piece only (`URLSessionTask.swift`, `urlProtocol(_:didLoad:)`).
    static var canStream: Bool {
        #if canImport(Darwin)
        true
        #else
        false
        #endif
    }

    /// What a protocol does about a request.
    enum Action: Sendable {
        /// The entry answers.
        case answer(Lookup, Substitution)
        /// Ask the network, and answer if it fails.
        case forward(Lookup, Fallback)
        /// The recorder's copy answers, or nothing does.
        case replay(Lookup, SubstitutionRecorder)
        /// Nothing answers, and the network must not.
        case fail(Lookup)

        var lookup: Lookup {
            switch self {
            case .answer(let lookup, _), .forward(let lookup, _), .replay(let lookup, _), .fail(let lookup): lookup
            }
        }
    }

    /// What a protocol does about a request; `nil` if it leaves it to the loader.
    func action(for request: URLRequest) -> Action? {
        let lookup = responder.lookUp(request)
        switch lookup.decision.outcome {
        case .answer(let substitution):
            return .answer(lookup, substitution)
        case .answerOffline(let substitution):
            if unmatched.fails(request) { return .answer(lookup, substitution) }
            return request.showsItsBody ? .forward(lookup, .entry(substitution)) : nil
        case .nothing(let cause):
            if cause != .excluded, let recorder, recorder.takes(request) {
                return unmatched.fails(request) ? .replay(lookup, recorder) : .forward(lookup, .recorder(recorder))
            }
            return request.reachesNetwork && unmatched.fails(request) ? .fail(lookup) : nil
        }
    }
}

extension URLRequest {
    /// Whether a protocol sees all of the request. Foundation hides the body of an upload task on Linux.
    fileprivate var showsItsBody: Bool {
        httpBody != nil || httpBodyStream != nil
            || ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
    }

    /// Whether loading it would reach the network: `data` and `file` URLs don't.
    fileprivate var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
