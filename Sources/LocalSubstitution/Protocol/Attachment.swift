import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The arguments of one `attach` call: which map answers, what happens to unmatched requests, and the recorder.
final class Attachment: Sendable {
    let responder: Responder
    let recorder: SubstitutionRecorder?
    let forwarder: Forwarder
    let unmatched: UnmatchedRule
    /// Whether pieces of a response are passed on before the rest: as they arrive if there's no fallback, otherwise once there
    /// are more bytes than may be held.
    let streams: Bool

    /// - Parameters:
    ///   - configuration: The configuration that requests are forwarded with.
    ///   - responseLimit: The longest body to hold in memory, in bytes; `nil` for the platform's default.
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

    /// `false` on Linux, where a completion handler gets only the last piece (`URLSessionTask.swift`, `urlProtocol(_:didLoad:)`).
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
        /// Ask the network, and answer if it fails and there's a fallback.
        case forward(Lookup, Fallback?)
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
    func action(for lookup: Lookup) -> Action? {
        let request = lookup.request
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
            guard unmatched.isStrict, request.reachesNetwork else { return nil }
            if unmatched.fails(request) { return .fail(lookup) }
            // An exception may redirect to what isn't one: only a forwarded request lets the target be looked at.
            return request.isHTTP && request.showsItsBody ? .forward(lookup, nil) : nil
        }
    }

    /// What a protocol does when it's started; `nil` if it can do nothing.
    ///
    /// The map may have changed since it has taken the request, so that nothing is left to do about it. Then the network answers.
    ///
    /// - Parameter taken: The request's lookup when a protocol has taken it, perhaps one of another session.
    func actionAtStart(for request: URLRequest, _ taken: Lookup?) -> Action? {
        let lookup = taken.flatMap { $0.isOffline == unmatched.isStrict ? $0 : nil } ?? lookUp(request)
        return action(for: lookup) ?? (request.showsItsBody ? .forward(lookup, nil) : nil)
    }

    /// Decides about a request of a session that this is attached to.
    func lookUp(_ request: URLRequest) -> Lookup {
        responder.lookUp(request, isOffline: unmatched.isStrict)
    }
}

extension URLRequest {
    /// Whether a protocol sees all of the request. Foundation hides the body of an upload task on Linux.
    fileprivate var showsItsBody: Bool {
        #if canImport(Darwin)
        true
        #else
        httpBody != nil || httpBodyStream != nil
            || ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
        #endif
    }

    fileprivate var isHTTP: Bool { ["http", "https"].contains(url?.scheme?.lowercased()) }

    /// Whether loading it would reach the network: `data` and `file` URLs don't.
    var reachesNetwork: Bool {
        ["http", "https", "ws", "wss", "ftp"].contains(url?.scheme?.lowercased() ?? "")
    }
}
