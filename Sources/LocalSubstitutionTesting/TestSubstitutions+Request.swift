#if canImport(Testing)
public import Foundation
public import LocalSubstitution

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension TestSubstitutions {
    /// A request that a test's code has made, and what became of it.
    public struct Request: Sendable, CustomStringConvertible {
        /// What became of a request.
        public struct Outcome: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// An outcome by its name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The request hasn't ended, or was cancelled.
            public static let underWay = Outcome(rawValue: "underWay")
            /// An entry answered.
            public static let answered = Outcome(rawValue: "answered")
            /// The network answered.
            public static let loaded = Outcome(rawValue: "loaded")
            /// The request failed: by its entry, or because the network or a file did.
            public static let failed = Outcome(rawValue: "failed")
            /// Nothing answers, and the request may not reach the network.
            public static let unmatched = Outcome(rawValue: "unmatched")
        }

        /// The request.
        public let request: URLRequest
        /// The request's body; `nil` if there is none, or it can't be seen: that of a stream and, on Linux, of an upload task.
        public var body: Data? { request.httpBody }
        /// What became of the request.
        public internal(set) var outcome = Outcome.underWay
        /// The entry that names the request's URL; `nil` if there is none.
        public internal(set) var entry: SubstitutionMap.EntryReference?
        /// Why the request failed; `nil` if it didn't.
        public internal(set) var error: URLError?

        /// Whether only the server of the request's URL could answer.
        var needsOrigin = false
        /// The alternatives that had answered as many requests as they may.
        var usedUp: [SubstitutionMap.EntryReference] = []
        /// The whole response, in a recording run.
        var response: CachedURLResponse?

        init(_ request: URLRequest) { self.request = request }

        /// The method, the URL and the outcome.
        public var description: String { "\(signature): \(outcome.rawValue)" }

        /// The method and the URL.
        var signature: String { "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "no URL")" }
    }
}
#endif
