#if canImport(Testing)
public import Foundation
import Guarded
public import LocalSubstitution

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension TestSubstitutions {
    /// A request that a test's code made, and its outcome.
    public struct Request: Sendable, CustomStringConvertible {
        /// How a request ended.
        public struct Outcome: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// Creates an outcome with a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The request hasn't ended, or it was cancelled.
            public static let underWay = Outcome(rawValue: "underWay")
            /// An entry answered.
            public static let answered = Outcome(rawValue: "answered")
            /// The network answered.
            public static let loaded = Outcome(rawValue: "loaded")
            /// The request failed: its entry says so, the network failed, or a file couldn't be read.
            public static let failed = Outcome(rawValue: "failed")
            /// No entry answers the request, and it isn't allowed to reach the network.
            public static let unmatched = Outcome(rawValue: "unmatched")
        }

        /// The request.
        public let request: URLRequest
        /// The request's body; `nil` if it has none or it can't be seen. The body of a stream is included once a `when`
        /// condition has read it. On Linux, an upload task's body can't be seen.
        public internal(set) var body: Data?
        /// How the request ended.
        public internal(set) var outcome = Outcome.underWay
        /// The entry that names the request's URL; `nil` if there is none.
        public internal(set) var entry: SubstitutionMap.EntryReference?
        /// Why the request failed; `nil` if it didn't.
        public internal(set) var error: URLError?

        /// Whether only the server at the request's URL could answer.
        var needsOrigin = false
        /// The alternatives that had already answered as many requests as their `times` allows.
        var usedUp: [SubstitutionMap.EntryReference] = []
        /// The whole response; only in a recording run.
        var response: CachedURLResponse?

        /// Why the request is unmatched.
        var explanation: Explanation?
        /// Whether the request is unmatched and an upload task's whose body can't be seen.
        var isHiddenUpload = false

        init(_ request: URLRequest) {
            self.request = request
            body = request.httpBody
        }

        /// The method, the URL without credentials, and the outcome.
        public var description: String { "\(signature): \(outcome.rawValue)" }

        /// The method, and the URL without credentials.
        var signature: String { "\(request.httpMethod ?? "GET") \(ShownURL(request.url).text)" }
    }
}

extension TestSubstitutions {
    /// The requests of a test, in the order in which they began. The loader's threads add to it.
    final class RequestLog: Sendable {
        private let entries = Guarded<[Request]>([])
        private let keepsResponses: Bool

        init(keepsResponses: Bool) { self.keepsResponses = keepsResponses }

        var requests: [Request] { entries.withLock { $0 } }

        /// Adds a request. Returns a closure to call with what happens to it.
        func begin(_ request: URLRequest) -> @Sendable (RequestListener.Progress) -> Void {
            let index = entries.withLock { entries in
                entries.append(Request(request))
                return entries.count - 1
            }
            return { progress in
                self.entries.withLock { entries in
                    switch progress {
                    case .readBody(let body): entries[index].body = body
                    case .ended(let outcome): entries[index].end(outcome, keepsResponse: self.keepsResponses)
                    }
                }
            }
        }
    }
}

extension TestSubstitutions.Request {
    fileprivate mutating func end(_ outcome: RequestOutcome, keepsResponse: Bool) {
        self.outcome =
            switch outcome.kind {
            case .answered, .confirmed: .answered
            case .loaded: .loaded
            case .failed: .failed
            case .unmatched: .unmatched
            }
        entry = outcome.entry
        error = outcome.error
        if case .unmatched(let explanation) = outcome.kind {
            self.explanation = explanation
            // The error that the code gets may be brief.
            error = .unmatched(explanation)
            isHiddenUpload = outcome.isHiddenUpload
        }
        needsOrigin = outcome.needsOrigin
        usedUp = outcome.usedUp
        if keepsResponse { response = outcome.response }
    }
}
#endif
